#include "dialects/provider_json.h"

#include "wire/utf8.h"

namespace qq::dialects {

const char* check_provider_json(std::string_view& text, std::string& repaired) {
  if (!wire::check_json(text)) return nullptr;
  if (const auto error = wire::check_json(text, {.check_utf8 = false})) return error->reason;
  text = wire::as_utf8(text, repaired);
  return nullptr;
}

std::optional<wire::JsonValue> provider_json(std::string_view text, std::string& repaired) {
  if (check_provider_json(text, repaired) != nullptr) return std::nullopt;
  return wire::JsonValue(text);
}

std::optional<std::int64_t> count_in(const std::optional<wire::JsonValue>& value) noexcept {
  const auto number = value ? value->integer() : std::nullopt;
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace qq::dialects
