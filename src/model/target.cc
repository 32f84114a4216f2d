#include "model/target.h"

#include <array>

namespace qq::model {
namespace {

// In order of preference: what says most comes first. A target has one of them as a rule; of OpenAI's two,
// chat is what most servers know best.
constexpr std::array kConversations = {
    Endpoint::Messages,   Endpoint::GenerateContent, Endpoint::Converse,        Endpoint::CohereChat,
    Endpoint::OllamaChat, Endpoint::Declared,        Endpoint::ChatCompletions, Endpoint::Responses};

}  // namespace

std::optional<Endpoint> Target::endpoint_for(Endpoint asked) const noexcept {
  if (offers(asked)) return asked;
  if (!conversation_at(asked)) return std::nullopt;
  if (quirks.prefers_responses && offers(Endpoint::Responses)) return Endpoint::Responses;
  for (const Endpoint endpoint : kConversations) {
    if (offers(endpoint)) return endpoint;
  }
  return std::nullopt;
}

}  // namespace qq::model
