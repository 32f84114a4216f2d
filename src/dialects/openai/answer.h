// Whole (non-stream) answers of the OpenAI dialects: is it an answer, and what did it use?
#pragma once
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
  std::string fault_message;       // for logs and the client when nothing else is left
  model::Usage usage;
  std::string finish_reason;       // first choice's; responses: status
  wire::JsonValue model_value;     // the answer's `model`, empty text if absent
};

// `body` may start with white space (keep-alive blanks of OpenRouter and DeepSeek).
AnswerFacts judge_answer(model::Endpoint endpoint, std::string_view body, const model::Target& target);

// Usage in disjoint buckets from a `usage` object of any provider of the dialect (chat names prompt_tokens /
// completion_tokens, responses names input_tokens / output_tokens; cached and reasoning tokens in details,
// top-level cached_tokens, prompt_cache_hit_tokens, num_cached_tokens). Null in, source None out.
model::Usage decode_usage(wire::JsonValue usage, const model::Quirks& quirks);

}  // namespace qq::dialects::openai
