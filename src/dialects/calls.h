// Calls of tools, where dialects differ in more than words: arguments that must be an object, tools
// whose input is free text.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "model/chat_request.h"

namespace qq::dialects {

// A call's arguments as the object they must be; sets `wrapped` where they were none.
std::string input_of(const model::ToolCallPart& call, bool& wrapped);

// Whether a call's arguments are the beginning of a JSON value whose end has not come. Not of what is no
// JSON: models write such too.
bool is_cut_short(std::string_view arguments) noexcept;

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

// The caller's choice as it can be said beside the tools that are sent: it names no others, and where it
// means only such, or wants a call where there is no tool, it is left out and a loss. As it was if the caller
// speaks `target`'s dialect.
std::optional<model::ToolChoice> choice_among(const model::ChatRequest& request, model::Dialect target,
                                              const std::function<bool(const model::Tool&)>& is_sent,
                                              Losses& losses);

}  // namespace qq::dialects
