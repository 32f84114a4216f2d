// The members of a stream's event, found in one walk.
#pragma once
#include "wire/json.h"

namespace qq::dialects::openai_responses {

struct EventMembers {
  std::string_view type;  // as written
  wire::JsonValue response, item, delta, text, arguments, input, part, refusal, annotation, logprobs, error;
  std::size_t output_index = 0;
  std::int64_t content_index = 0;  // summary_index likewise
  bool has_output_index = false;
};
EventMembers read_event(wire::JsonValue event) noexcept;

}  // namespace qq::dialects::openai_responses
