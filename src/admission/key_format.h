// What a client key looks like:
//
//   sk-qq_ + 32 characters of secret + 6 characters of checksum        44 characters in all
//
// Both parts are base 62 (0-9, A-Z, a-z). 32 of them carry 190 random bits. The checksum is the CRC-32 (IEEE)
// of the secret, as a number of six base-62 digits, highest first: it protects nothing, but a mistyped or cut
// key is told apart from an unknown one without a look-up, and secret scanners find leaked keys with hardly a
// false alarm.
//
// Source: "Behind GitHub's new authentication token formats", GitHub blog, 2021.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/secret.h"

namespace qq::admission {

inline constexpr std::string_view kKeyPrefix = "sk-qq_";
inline constexpr std::size_t kKeySecretLength = 32;
inline constexpr std::size_t kKeyChecksumLength = 6;
inline constexpr std::size_t kKeyLength = kKeyPrefix.size() + kKeySecretLength + kKeyChecksumLength;

// A new key from the operating system's random source. Shown once, stored only as its hash (key_hash.h).
Secret make_key();

enum class KeyFormat : std::uint8_t {
  Ours,      // prefix, length, characters and checksum are right
  Mistyped,  // begins like ours, but cannot be one
  Foreign,   // anything else: perhaps an operator's own string
};
// Takes time that depends on the text, which its sender knows anyway.
KeyFormat key_format(std::string_view presented) noexcept;

}  // namespace qq::admission
