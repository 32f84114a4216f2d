// A request as the built-in answers see it: what was asked, of whom, with which tools, in whatever dialect.
//
// Views point into the request body, which outlives the object, or into `request`.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat_request.h"
#include "simulator/provider/route.h"
#include "wire/json.h"

namespace qq::simulator {

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
  bool reasoning = false;        // by the model's name or because it was asked for
  bool sealed_thoughts = false;  // responses: include reasoning.encrypted_content

  std::uint64_t prompt_bytes = 0;
  // Of the prompt only: not of the model's name or the options that a gateway may rewrite, so that ids in
  // the answer are the same through a gateway and without it.
  std::uint64_t hash = 0;

  // Of the dialects other than OpenAI's.
  std::shared_ptr<const model::ChatRequest> request{};
  model::MessagesForm form = model::MessagesForm::Direct;
  bool array_stream = false;
  bool cache_marked = false;  // the caller marked what may be cached
};

// OpenAI's dialects, read leniently where the real providers do, and refused in OpenAI's words. `body` is
// JSON that was checked and must stay alive. Errors carry OpenAI's message and `param`.
Result<Asked> read_asked(Route route, std::string_view body, std::string_view path_model);

// Whether a model thinks, by its name.
bool sounds_like_reasoning(std::string_view model) noexcept;

// A conversation that was read by its dialect (voices/voice.h). `prompt` is the JSON that is billed.
Asked asked_of(std::shared_ptr<const model::ChatRequest> request, std::string_view prompt);

// Stable across runs and machines; after FNV-1a, but eight bytes at a time.
std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325ULL) noexcept;

}  // namespace qq::simulator
