// A JSON value as words, for messages and codes that some write as strings and some as numbers.
#pragma once
#include <string>

#include "wire/json.h"

namespace qq::wire {

// A string decoded, null as nothing, anything else as it is written.
inline std::string text_of(JsonValue value) {
  if (value.is_string()) return value.string();
  if (value.is_null()) return {};
  return std::string(value.text());
}

}  // namespace qq::wire
