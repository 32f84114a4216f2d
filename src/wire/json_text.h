// A JSON value as words, for messages and codes that some write as strings and some as numbers.
#pragma once
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

// A string without a copy where nothing in it is escaped, else in `scratch`; empty for other types.
inline std::string_view text_in(JsonValue value, std::string& scratch) {
  const std::string_view raw = value.raw_string();
  if (raw.find('\\') == std::string_view::npos) return raw;
  scratch = value.string();
  return scratch;
}

}  // namespace qq::wire
