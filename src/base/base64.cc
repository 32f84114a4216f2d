#include "base/base64.h"

#include <array>
#include <cstdint>

namespace qq {
namespace {

class Alphabet {
 public:
  explicit constexpr Alphabet(std::string_view letters) : letters_(letters) {
    values_.fill(-1);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      values_[static_cast<unsigned char>(letters[i])] = static_cast<std::int8_t>(i);
    }
  }
  [[nodiscard]] constexpr char letter(std::uint32_t value) const { return letters_[value & 63U]; }
  [[nodiscard]] constexpr int value(char letter) const { return values_[static_cast<unsigned char>(letter)]; }

 private:
  std::string_view letters_;
  std::array<std::int8_t, 256> values_{};
};

constexpr Alphabet kStandard("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
constexpr Alphabet kUrl("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

std::string encode(const Alphabet& alphabet, std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8U | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    out += alphabet.letter(group >> 18U);
    out += alphabet.letter(group >> 12U);
    if (i + 1 < bytes.size()) out += alphabet.letter(group >> 6U);
    if (i + 2 < bytes.size()) out += alphabet.letter(group);
  }
  return out;
}

// Without padding.
std::optional<std::string> decode(const Alphabet& alphabet, std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const int value = alphabet.value(letter);
    if (value < 0) return std::nullopt;
    group = group << 6U | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xffU);
    }
  }
  return out;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out = encode(kStandard, bytes);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return decode(kStandard, text);
}

std::string to_base64url(std::string_view bytes) {
  return encode(kUrl, bytes);
}

std::optional<std::string> from_base64url(std::string_view text) {
  return decode(kUrl, text);
}

}  // namespace qq
