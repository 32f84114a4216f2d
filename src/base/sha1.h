// SHA-1 (FIPS 180-4), where a protocol demands it and nothing rests on it: WebSocket's handshake. By OpenSSL.
#pragma once
#include <array>
#include <string_view>

namespace qq {

using Sha1Digest = std::array<unsigned char, 20>;

Sha1Digest sha1(std::string_view text);

inline std::string_view bytes_of(const Sha1Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace qq
