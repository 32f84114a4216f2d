// The endpoints that a client may call and a provider may serve.
#pragma once
#include <cstdint>
#include <string_view>

namespace qq::model {

enum class Endpoint : std::uint8_t {
  ChatCompletions,    // POST /v1/chat/completions
  Responses,          // POST /v1/responses
  Completions,        // POST /v1/completions
  Embeddings,         // POST /v1/embeddings
  Moderations,        // POST /v1/moderations
  ImagesGenerations,  // POST /v1/images/generations
};
inline constexpr std::size_t kEndpointCount = 6;

constexpr std::string_view to_string(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::ChatCompletions: return "chat_completions";
    case Endpoint::Responses: return "responses";
    case Endpoint::Completions: return "completions";
    case Endpoint::Embeddings: return "embeddings";
    case Endpoint::Moderations: return "moderations";
    case Endpoint::ImagesGenerations: return "images_generations";
  }
  return "unknown";
}

}  // namespace qq::model
