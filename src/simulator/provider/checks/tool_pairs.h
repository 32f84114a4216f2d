// The rule that all OpenAI-like dialects share: every tool call of the history is answered, and every answer
// has its call.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace qq::simulator {

struct ToolPairs {
  std::vector<std::string> unanswered{};  // calls whose results are not there where they must be
  std::vector<std::string> unknown{};     // results without a call before them
  std::vector<std::string> ids{};         // all of the calls
};

// Of `messages` with `tool_calls` and turns of the role "tool" behind them, in any order.
ToolPairs tool_pairs(wire::JsonValue messages);

}  // namespace qq::simulator
