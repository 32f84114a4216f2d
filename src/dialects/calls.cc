#include "dialects/calls.h"

#include "base/text.h"
#include "dialects/fields.h"
#include "dialects/losses.h"
#include "wire/json.h"
#include "wire/json_progress.h"

namespace qq::dialects {

std::string input_of(const model::ToolCallPart& call, bool& wrapped) {
  const std::string_view text = trimmed(call.arguments);
  const bool custom = call.kind == model::ToolCallPart::Kind::Custom;
  if (!custom) {
    if (text.empty() || text == "null") return "{}";
    if (text.front() == '{' && !wire::check_json(text)) return std::string(text);
    wrapped = true;
  }
  std::string out = custom ? "{\"input\":" : "{\"arguments\":";
  wire::append_json_string(out, call.arguments);
  out += '}';
  return out;
}

bool is_cut_short(std::string_view arguments) noexcept {
  wire::JsonProgress progress;
  return progress.feed(arguments) && progress.begun() && !progress.complete();
}

ChosenTools::ChosenTools(const model::ChatRequest& request) {
  if (request.tool_choice) names_.insert(request.tool_choice->only.begin(), request.tool_choice->only.end());
}

std::optional<model::ToolChoice> choice_among(const model::ChatRequest& request, model::Dialect target,
                                              const std::function<bool(const model::Tool&)>& is_sent,
                                              Losses& losses) {
  using Mode = model::ToolChoice::Mode;
  if (!request.tool_choice || request.dialect == target) return request.tool_choice;
  std::set<std::string_view> sent;
  for (const model::Tool& tool : request.tools) {
    if (is_sent(tool)) sent.insert(tool.name);
  }
  model::ToolChoice choice = *request.tool_choice;
  const bool names_some = !choice.only.empty();
  std::erase_if(choice.only, [&](const std::string& name) { return !sent.contains(name); });
  const bool none_left = sent.empty() || (names_some && choice.only.empty());
  if (!none_left) return choice;
  if (choice.mode == Mode::None) return sent.empty() ? std::nullopt : std::optional(choice);
  if (names_some || choice.mode == Mode::Required)
    losses.push_back({std::string(name_of(Field::ToolChoice, request.dialect)), loss::kNotTogether});
  return std::nullopt;
}

}  // namespace qq::dialects
