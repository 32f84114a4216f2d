// A text as a JSON string, where answers are put together by format strings.
#pragma once
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::simulator {

inline std::string in_quotes(std::string_view text) {
  std::string out;
  wire::append_json_string(out, text);
  return out;
}

}  // namespace qq::simulator
