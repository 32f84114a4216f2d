#include "model/target.h"

#include <algorithm>
#include <array>
#include <span>

namespace qq::model {
namespace {

// In order of preference: what says most comes first. A target has one of them as a rule; of OpenAI's two,
// chat is what most servers know best.
constexpr std::array kConversations = {
    Endpoint::Messages,   Endpoint::GenerateContent, Endpoint::Converse,        Endpoint::CohereChat,
    Endpoint::OllamaChat, Endpoint::Declared,        Endpoint::ChatCompletions, Endpoint::Responses};

// The same of embeddings: what takes most texts at once comes first.
constexpr std::array kEmbeddings = {Endpoint::Embeddings,  Endpoint::BatchEmbedContents,
                                    Endpoint::Predict,     Endpoint::CohereEmbed,
                                    Endpoint::InvokeEmbed, Endpoint::EmbedContent};

std::optional<Endpoint> first_of(const Target& target, std::span<const Endpoint> endpoints) noexcept {
  const auto found = std::ranges::find_if(endpoints, [&](Endpoint each) { return target.offers(each); });
  return found == endpoints.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::optional<Endpoint> Target::endpoint_for(Endpoint asked) const noexcept {
  if (offers(asked)) return asked;
  if (is_embedding(asked)) return first_of(*this, kEmbeddings);
  if (!conversation_at(asked)) return std::nullopt;
  if (quirks.prefers_responses && offers(Endpoint::Responses)) return Endpoint::Responses;
  return first_of(*this, kConversations);
}

}  // namespace qq::model
