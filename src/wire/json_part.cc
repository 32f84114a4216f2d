#include "wire/json_part.h"

#include "wire/json_scan.h"

namespace qq::wire {
namespace {

// Behind the string whose opening quote is at `at`, or null if it does not end.
const char* behind_string(const char* at, const char* end) noexcept {
  bool escapes = false;
  const char* const quote = find_closing_quote(at + 1, end, escapes);
  return quote == end ? nullptr : quote + 1;
}

// Behind the value at `at`, or null if it does not end.
const char* behind_value(const char* at, const char* end) noexcept {
  if (*at == '"') return behind_string(at, end);
  if (*at == '{' || *at == '[') {
    const char* const behind = skip_container(at, end);
    return behind == end ? nullptr : behind;
  }
  while (at != end && *at != ',' && *at != '}') ++at;
  return at == end ? nullptr : at;
}

// At the next byte behind one that must be `expected`, white space skipped around it; null if it is another.
const char* behind_mark(const char* at, const char* end, char expected) noexcept {
  at = skip_json_space(at, end);
  if (at == end || *at != expected) return nullptr;
  at = skip_json_space(at + 1, end);
  return at == end ? nullptr : at;
}

// The value of the first member `key`, if it begins with `mark`.
JsonValue value_in_part(std::string_view part, std::string_view key, char mark) noexcept {
  const char* const end = part.data() + part.size();
  const char* at = behind_mark(part.data(), end, '{');
  while (at != nullptr && *at == '"') {
    const char* const behind_key = behind_string(at, end);
    if (behind_key == nullptr) break;
    const std::string_view found(at + 1, static_cast<std::size_t>(behind_key - at) - 2);
    const char* const value = behind_mark(behind_key, end, ':');
    if (value == nullptr) break;
    const char* const behind = behind_value(value, end);
    if (behind == nullptr) break;
    if (found == key) {
      return *value == mark ? JsonValue(std::string_view(value, static_cast<std::size_t>(behind - value)))
                            : JsonValue();
    }
    at = behind_mark(behind, end, ',');
  }
  return {};
}

}  // namespace

JsonValue member_in_part(std::string_view part, std::string_view key) noexcept {
  return value_in_part(part, key, '"');
}

JsonValue object_in_part(std::string_view part, std::string_view key) noexcept {
  const JsonValue found = value_in_part(part, key, '{');
  return check_json(found.text()) ? JsonValue() : found;
}

JsonValue object_in_tail(std::string_view tail, std::string_view key) noexcept {
  const char* const end = tail.data() + tail.size();
  for (std::size_t at = tail.rfind(key); at != std::string_view::npos && at > 0;
       at = tail.rfind(key, at - 1)) {
    const char* const behind_key = tail.data() + at + key.size();
    if (tail[at - 1] != '"' || behind_key == end || *behind_key != '"') continue;
    const char* const value = behind_mark(behind_key + 1, end, ':');
    if (value == nullptr || *value != '{') continue;
    // Only this one is read: one object after the other could be the same bytes again and again.
    const char* const behind = skip_container(value, end);
    const JsonValue found(std::string_view(value, static_cast<std::size_t>(behind - value)));
    return check_json(found.text()) ? JsonValue() : found;
  }
  return {};
}

}  // namespace qq::wire
