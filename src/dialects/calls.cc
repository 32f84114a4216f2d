#include "dialects/calls.h"

#include "base/text.h"
#include "wire/json.h"

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

ChosenTools::ChosenTools(const model::ChatRequest& request) {
  if (request.tool_choice) names_.insert(request.tool_choice->only.begin(), request.tool_choice->only.end());
}

}  // namespace qq::dialects
