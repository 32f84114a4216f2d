#include "dialects/calls.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string made_call_id(std::string_view seed, std::size_t number) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("call_{:016x}{}", hash, number);
}

bool is_chosen(const model::ChatRequest& request, std::string_view tool) noexcept {
  return !request.tool_choice || request.tool_choice->only.empty() ||
         std::ranges::find(request.tool_choice->only, tool) != request.tool_choice->only.end();
}

}  // namespace qq::dialects
