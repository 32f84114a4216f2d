// A JSON value as words, for messages and codes that some write as strings and some as numbers.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::wire {

// A string decoded, null as nothing, anything else as it is written.
inline std::string text_of(JsonValue value) {
  if (value.is_string()) return value.string();
  if (value.is_null()) return {};
  return std::string(value.text());
}

// A string without a copy where nothing in it is escaped, else in `scratch`; empty for other types, and for
// what is not there.
inline std::string_view text_in(const std::optional<JsonValue>& value, std::string& scratch) {
  if (!value) return {};
  const std::string_view raw = value->raw_string();
  if (raw.find('\\') == std::string_view::npos) return raw;
  scratch = value->string();
  return scratch;
}

}  // namespace qq::wire
