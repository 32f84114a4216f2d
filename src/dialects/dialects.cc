// Which dialects have which side: the one list of them.
#include <algorithm>

#include "dialects/anthropic/dialect.h"
#include "dialects/bedrock/dialect.h"
#include "dialects/cohere/dialect.h"
#include "dialects/declared/dialect.h"
#include "dialects/dialect.h"
#include "dialects/gemini/dialect.h"
#include "dialects/ollama/dialect.h"
#include "dialects/openai_chat/dialect.h"
#include "dialects/openai_responses/dialect.h"

namespace qq::dialects {

void StreamEncoder::lose(std::string_view field, std::string_view why) {
  if (std::ranges::find(losses_, field, &Loss::field) == losses_.end())
    losses_.push_back({std::string(field), why});
}

const ClientDialect* client_dialect(model::Dialect dialect) noexcept {
  switch (dialect) {
    case model::Dialect::OpenAiChat: return &openai_chat::client_side();
    case model::Dialect::OpenAiResponses: return &openai_responses::client_side();
    case model::Dialect::Anthropic: return &anthropic::client_side();
    case model::Dialect::Gemini: return &gemini::client_side();
    default: return nullptr;
  }
}

const ProviderDialect* provider_dialect(model::Dialect dialect) noexcept {
  switch (dialect) {
    case model::Dialect::OpenAiChat: return &openai_chat::provider_side();
    case model::Dialect::OpenAiResponses: return &openai_responses::provider_side();
    case model::Dialect::Anthropic: return &anthropic::provider_side();
    case model::Dialect::Gemini: return &gemini::provider_side();
    case model::Dialect::Bedrock: return &bedrock::provider_side();
    case model::Dialect::Cohere: return &cohere::provider_side();
    case model::Dialect::Ollama: return &ollama::provider_side();
    case model::Dialect::Declared: return &declared::provider_side();
    default: return nullptr;
  }
}

}  // namespace qq::dialects
