// Why an answer ended, in no dialect's words. The dialects' own words: spec of each in dialects/<name>/.
#pragma once
#include <cstdint>
#include <string_view>

namespace qq::model {

enum class Finish : std::uint8_t {
  None,        // it has not
  Stop,        // the model was done
  StopString,  // one of the caller's stop strings came
  Length,      // a token limit
  ToolCalls,   // it waits for the results of its calls
  Filtered,    // somebody's filter or guardrail
  Refusal,     // the model declined (Anthropic's stop reason; OpenAI's refusals end with Stop)
  Paused,      // a hosted tool's long turn; the caller sends it back to go on
  Broken,      // the generation failed
};
std::string_view to_string(Finish finish) noexcept;  // "stop", "tool_calls"

}  // namespace qq::model
