#include "dialects/openai_responses/stream_event_members.h"

namespace qq::dialects::openai_responses {

using wire::JsonValue;

EventMembers read_event(JsonValue event) noexcept {
  EventMembers of;
  for (wire::JsonMembers members(event); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "type") {
      of.type = value.raw_string();
    } else if (key == "delta") {
      of.delta = value;
    } else if (key == "output_index") {
      const auto index = value.integer();
      of.has_output_index = index && *index >= 0;
      of.output_index = of.has_output_index ? static_cast<std::size_t>(*index) : 0;
    } else if (key == "content_index" || key == "summary_index") {
      of.content_index = value.integer().value_or(0);
    } else if (key == "item") {
      of.item = value;
    } else if (key == "response") {
      of.response = value;
    } else if (key == "text") {
      of.text = value;
    } else if (key == "arguments") {
      of.arguments = value;
    } else if (key == "input") {
      of.input = value;
    } else if (key == "part") {
      of.part = value;
    } else if (key == "refusal") {
      of.refusal = value;
    } else if (key == "annotation") {
      of.annotation = value;
    } else if (key == "logprobs") {
      of.logprobs = value;
    } else if (key == "error") {
      of.error = value;
    }
  }
  return of;
}

}  // namespace qq::dialects::openai_responses
