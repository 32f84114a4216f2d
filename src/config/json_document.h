// Secrets that are whole JSON documents, as Google hands out its service accounts' keys: the only values that
// may hold line breaks.
#pragma once
#include <string_view>

#include "wire/json.h"

namespace qq::config {

inline bool is_json_object(std::string_view text) noexcept {
  return !wire::check_json(text) && wire::JsonValue(text).is_object();
}

}  // namespace qq::config
