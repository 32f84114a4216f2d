#include "admission/key_format.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/random.h"

namespace qq::admission {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static_assert(kDigits.size() == 62);

// Without a way out of the loop, so that the compiler takes sixteen at a time.
bool all_digits(std::string_view text) noexcept {
  bool all = true;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
    all &= static_cast<unsigned char>(c - '0') < 10 || letter < 26;
  }
  return all;
}

std::array<char, kKeyChecksumLength> checksum_of(std::string_view secret) noexcept {
  std::uint64_t rest = crc32_z(0, reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  std::array<char, kKeyChecksumLength> text{};
  for (auto it = text.rbegin(); it != text.rend(); ++it) {
    *it = kDigits[rest % kDigits.size()];
    rest /= kDigits.size();
  }
  return text;
}

}  // namespace

Secret make_key() {
  std::string key;
  key.reserve(kKeyLength);
  key = kKeyPrefix;
  // Bytes of 248 and above are drawn again: 248 is the largest multiple of 62 that a byte can count.
  constexpr unsigned kUnbiased = 256 / kDigits.size() * kDigits.size();
  std::array<std::byte, 64> bytes{};
  while (key.size() < kKeyPrefix.size() + kKeySecretLength) {
    fill_with_secure_random(bytes);
    for (const std::byte byte : bytes) {
      const auto value = std::to_integer<unsigned>(byte);
      if (value >= kUnbiased) continue;
      key += kDigits[value % kDigits.size()];
      if (key.size() == kKeyPrefix.size() + kKeySecretLength) break;
    }
  }
  const auto checksum = checksum_of(std::string_view(key).substr(kKeyPrefix.size()));
  key.append(checksum.data(), checksum.size());
  return Secret(std::move(key));
}

KeyFormat key_format(std::string_view presented) noexcept {
  if (!presented.starts_with(kKeyPrefix)) return KeyFormat::Foreign;
  if (presented.size() != kKeyLength) return KeyFormat::Mistyped;
  const std::string_view digits = presented.substr(kKeyPrefix.size());
  if (!all_digits(digits)) return KeyFormat::Mistyped;
  const auto checksum = checksum_of(digits.substr(0, kKeySecretLength));
  const bool right = std::ranges::equal(digits.substr(kKeySecretLength), checksum);
  return right ? KeyFormat::Ours : KeyFormat::Mistyped;
}

}  // namespace qq::admission
