#include "dialects/provider_json.h"

#include "wire/utf8.h"

namespace qq::dialects {

using wire::JsonValue;

std::optional<JsonValue> provider_json(std::string_view text, std::string& room) {
  if (!wire::check_json(text)) return JsonValue(text);
  if (wire::check_json(text, {.check_utf8 = false})) return std::nullopt;
  room.clear();
  while (!text.empty()) {
    const wire::Utf8Part part = wire::first_utf8_part(text);
    room += part.valid ? text.substr(0, part.size) : wire::kReplacementCharacter;
    text.remove_prefix(part.size);
  }
  return JsonValue(room);
}

std::string_view text_in(const std::optional<JsonValue>& value, std::string& scratch) {
  if (!value) return {};
  const std::string_view raw = value->raw_string();
  if (raw.find('\\') == std::string_view::npos) return raw;
  scratch = value->string();
  return scratch;
}

std::optional<std::int64_t> count_in(const std::optional<JsonValue>& value) noexcept {
  const auto number = value ? value->integer() : std::nullopt;
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace qq::dialects
