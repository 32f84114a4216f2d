// A request as the built-in answers see it: what was asked, of whom, with which tools. Reads the OpenAI
// dialects leniently where the real providers do, and refuses with OpenAI's words what they refuse.
//
// Views point into the request body, which outlives the object.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace qq::simulator {

enum class Route : std::uint8_t {
  ChatCompletions,
  Responses,
  Completions,
  Embeddings,
  Moderations,
  ImagesGenerations,
  Models,
  Unknown,
};
std::string_view to_string(Route route) noexcept;

// Where a path leads, whatever stands before it: "/v1/chat/completions", "/api/paas/v4/chat/completions",
// "/openai/deployments/gpt/chat/completions".
struct RoutedPath {
  Route route = Route::Unknown;
  std::string model{};       // of an Azure deployment or /models/{id}; may be empty
  std::string directives{};  // of a segment that starts with '+', without it
  std::string vendor{};      // the first segment, when it names a vendor whose shapes we know
};
RoutedPath route_path(std::string_view path);

// "sim-gpt+fault=429" without what follows the first '+', and the rest.
struct ModelName {
  std::string name{};
  std::string directives{};
};
ModelName split_model(std::string_view asked);

struct AskedTool {
  std::string name{};
  wire::JsonValue parameters{};  // a JSON schema; empty text if there was none
};

enum class ToolChoice : std::uint8_t { Auto, None, Required, Named };

struct Asked {
  Route route = Route::Unknown;
  wire::JsonValue body{};
  std::string model{};  // without directives
  bool stream = false;
  bool include_usage = false;
  unsigned choices = 1;

  std::string text{};                       // of the last user message
  std::vector<std::string> media{};         // "image/png, 70 bytes, 1x1", in order
  std::vector<std::string> tool_results{};  // when the conversation ends in tool results
  std::vector<std::string> inputs{};        // of embeddings, moderations and completions

  std::vector<AskedTool> tools{};
  ToolChoice tool_choice = ToolChoice::Auto;
  std::string named_tool{};
  bool parallel_calls = true;

  std::optional<wire::JsonValue> schema{};
  bool json_object = false;
  bool logprobs = false;
  unsigned top_logprobs = 0;
  std::optional<std::uint64_t> max_tokens{};
  std::vector<std::string> stops{};
  bool reasoning = false;  // by the model's name or because it was asked for

  std::uint64_t prompt_bytes = 0;
  // Of the prompt only: not of the model's name or the options that a gateway may rewrite, so that ids in
  // the answer are the same through a gateway and without it.
  std::uint64_t hash = 0;
};

// `body` is JSON that was checked and must stay alive. Errors carry OpenAI's message and `param`.
Result<Asked> read_asked(Route route, std::string_view body, std::string_view path_model);

// Stable across runs and machines; after FNV-1a, but eight bytes at a time.
std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325ULL) noexcept;

}  // namespace qq::simulator
