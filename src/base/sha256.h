// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for signatures over requests. By OpenSSL. The hash of
// client keys, which is made for each request, has its own faster form in admission/.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace qq {

using Sha256Digest = std::array<unsigned char, 32>;

// Of the pieces one behind the other.
Sha256Digest sha256(std::span<const std::string_view> pieces);
inline Sha256Digest sha256(std::string_view text) {
  return sha256({&text, 1});
}
Sha256Digest hmac_sha256(std::string_view key, std::string_view text);

inline std::string_view bytes_of(const Sha256Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
// 64 lower-case digits.
inline std::string to_hex(const Sha256Digest& digest) {
  return to_hex(bytes_of(digest));
}

}  // namespace qq
