// Calls of tools, where dialects differ in more than words: arguments that must be an object, tools
// whose input is free text.
#pragma once
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

// Whether the caller's choice leaves the tool in: true without a choice of several or one.
bool is_chosen(const model::ChatRequest& request, std::string_view tool) noexcept;

}  // namespace qq::dialects
