// Where a request's path leads, in each provider's way of putting things: the endpoint, and what else the
// path says (the model, whether it is a stream, directives).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "model/target.h"

namespace qq::simulator {

enum class Route : std::uint8_t {
  ChatCompletions,
  Responses,
  Completions,
  Embeddings,
  Moderations,
  ImagesGenerations,
  Models,
  Messages,         // Anthropic's, also inside Vertex (rawPredict) and Bedrock (invoke)
  CountMessages,    // count_tokens
  GenerateContent,  // Google's, of AI Studio and Vertex
  CountContent,     // countTokens
  Converse,         // Bedrock's
  CohereChat,
  OllamaChat,
  EmbedContents,  // Google's embedContent and batchEmbedContents
  Predict,        // Vertex: embeddings
  CohereEmbed,
  InvokeEmbed,  // Bedrock: a model that embeds, by its name
  Compact,      // responses/compact
  Realtime,     // a WebSocket
  Unknown,
};
std::string_view to_string(Route route) noexcept;

// Whatever stands before the endpoint is accepted: "/v1/chat/completions",
// "/api/paas/v4/chat/completions", "/openai/deployments/gpt/chat/completions",
// "/v1/projects/p/locations/l/publishers/google/models/gemini:generateContent".
struct RoutedPath {
  Route route = Route::Unknown;
  std::string model{};        // of a deployment, /models/{id}, /model/{id}, …; percent-decoded; may be empty
  std::string directives{};   // of a segment that starts with '+', without it
  std::string vendor{};       // whose shapes: the first segment, if it names a vendor, else whose path it is
  bool stream = false;        // the path asks for a stream (Google, Bedrock)
  bool array_stream = false;  // Google's without alt=sse: one JSON array
  model::MessagesForm form = model::MessagesForm::Direct;  // the envelope, of Messages
};
// `query` without its '?'.
RoutedPath route_path(std::string_view path, std::string_view query = {});

// "sim-gpt+fault=429" without what follows the first '+', and the rest.
struct ModelName {
  std::string name{};
  std::string directives{};
};
ModelName split_model(std::string_view asked);

// The value of `name` in a query string, percent-decoded; empty if it is absent.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace qq::simulator
