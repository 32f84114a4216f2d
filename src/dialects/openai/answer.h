// Whole (non-stream) answers of the OpenAI dialects: is it an answer, and what did it use?
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "model/usage.h"
#include "wire/json.h"

namespace qq::dialects::openai {

struct AnswerFacts {
  // Set for what is no answer: BadJson, StreamError (an error object inside a 200), EmptyReply.
  // Empty by spec: no text, reasoning, tool call, refusal or content filter, and the finish reason is
  // neither length nor a stop string.
  std::optional<ErrorKind> fault;
  std::string fault_message;   // for logs and the client when nothing else is left
  std::optional<Error> error;  // StreamError: the provider's error object, read
  bool blank = false;          // EmptyReply: white space was said
  model::Usage usage;
  std::string finish_reason;    // first choice's; responses: status
  wire::JsonValue model_value;  // the answer's `model`, empty text if absent
};

// `body` may start with white space (keep-alive blanks of OpenRouter and DeepSeek).
AnswerFacts judge_answer(model::Endpoint endpoint, std::string_view body, const model::Target& target);

// Usage in disjoint buckets from a `usage` object of any provider of the dialect (chat names prompt_tokens /
// completion_tokens, responses names input_tokens / output_tokens; cached and reasoning tokens in details,
// top-level cached_tokens, prompt_cache_hit_tokens, num_cached_tokens). Null in, source None out.
model::Usage decode_usage(wire::JsonValue usage, const model::Quirks& quirks);
// The same of the object that is being walked.
model::Usage decode_usage(wire::JsonMembers& members, const model::Quirks& quirks);

// The answer as the client gets it: the provider's bytes, with `model` put back to the name the client asked
// for if `rename_model` is not empty (see `name_to_restore`) and the answer names a model. Pieces are views
// into `body` and into the name or `model_json`; don't move the struct once it is filled.
struct AnswerBody {
  std::array<std::string_view, 3> pieces;  // unused ones are empty
  std::size_t bytes = 0;                   // the Content-Length
  std::string model_json;
};
void edit_answer(const AnswerFacts& facts, std::string_view body, std::string_view rename_model,
                 AnswerBody& out);

// The name to put back into answers: `asked` when the target's provider calls the model something else, else
// nothing, so that a provider's dated version name ("gpt-4o-2024-08-06") survives where names agree.
std::string_view name_to_restore(std::string_view asked, const model::Target& target) noexcept;

}  // namespace qq::dialects::openai
