// Small text building for the hot path, where a formatting library costs more than the work around it.
#pragma once
#include <charconv>
#include <concepts>
#include <string>

namespace qq {

// Appends `value` in decimal.
template <std::integral Integer>
void append_decimal(std::string& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace qq
