// Calls of tools, where dialects differ in more than words: arguments that must be an object, tools
// whose input is free text.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "model/chat_request.h"

namespace qq::dialects {

// A call's arguments as the object they must be; sets `wrapped` where they were none.
std::string input_of(const model::ToolCallPart& call, bool& wrapped);

// The schema of a tool whose input is free text, for targets that know functions only; `input_of` writes such
// calls.
inline constexpr std::string_view kCustomInputSchema =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"]})";

// The tools that the caller's choice leaves in: all without a choice of several or one. Lives no longer than
// `request`.
class ChosenTools {
 public:
  explicit ChosenTools(const model::ChatRequest& request);
  [[nodiscard]] bool has(std::string_view tool) const { return names_.empty() || names_.contains(tool); }

 private:
  std::set<std::string_view> names_;
};

}  // namespace qq::dialects
