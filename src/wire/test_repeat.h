// For tests only.
#pragma once
#include <string>

namespace qq::wire {

inline std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace qq::wire
