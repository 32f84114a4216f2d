// Hexadecimal digits.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace qq {

// What a digit of either case stands for; -1 for what is none.
constexpr int hex_digit(unsigned char c) noexcept {
  if (const unsigned digit = c - unsigned{'0'}; digit < 10) return static_cast<int>(digit);
  const unsigned letter = (c | 0x20U) - unsigned{'a'};
  return letter < 6 ? static_cast<int>(letter + 10) : -1;
}

// Two lower-case digits for each byte.
inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}
inline std::string to_hex(std::span<const std::byte> bytes) {
  return to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace qq
