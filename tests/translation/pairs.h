// The dialects between which is translated: whoever adds one adds a line here. A target of each takes all
// that its dialect can say.
#pragma once
#include <array>
#include <string>

#include "dialects/dialect.h"

namespace qq::translation {

inline constexpr std::array kClients{model::Dialect::OpenAiChat, model::Dialect::OpenAiResponses,
                                     model::Dialect::Anthropic, model::Dialect::Gemini};
inline constexpr std::array kProviders{model::Dialect::OpenAiChat, model::Dialect::OpenAiResponses,
                                       model::Dialect::Anthropic,  model::Dialect::Gemini,
                                       model::Dialect::Bedrock,    model::Dialect::Cohere,
                                       model::Dialect::Ollama};

inline model::Target target_of(model::Dialect dialect) {
  model::Target target;
  target.upstream_model = "upstream-model";
  using Chat = model::ChatQuirks;
  switch (dialect) {
    case model::Dialect::OpenAiChat:
      target.kind = "openai";
      target.reasons = true;
      target.quirks.chat.openai_words = true;
      target.quirks.chat.thoughts = Chat::Thoughts::Details;
      target.quirks.chat.takes_cache_control = true;
      target.quirks.chat.takes_top_k = true;
      break;
    case model::Dialect::OpenAiResponses:
      target.kind = "openai";
      target.reasons = true;
      break;
    case model::Dialect::Anthropic: target.upstream_model = "claude-sonnet-4-5"; break;
    case model::Dialect::Gemini:
      target.kind = "gemini";
      target.upstream_model = "gemini-2.5-flash";
      break;
    case model::Dialect::Bedrock:
      target.kind = "bedrock";
      target.upstream_model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
      break;
    case model::Dialect::Cohere:
      target.kind = "cohere";
      target.reasons = true;
      break;
    case model::Dialect::Ollama:
      target.kind = "ollama";
      target.reasons = true;
      break;
    default: break;
  }
  return target;
}

}  // namespace qq::translation
