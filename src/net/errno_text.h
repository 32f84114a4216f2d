// What an errno means, in words.
#pragma once
#include <array>
#include <cstring>
#include <string>

namespace qq::net {

// Thread-safe, and not std::error_category: its vptr in libstdc++ confuses UBSan.
inline std::string errno_text(int error) {
  std::array<char, 128> buffer{};
  return strerror_r(error, buffer.data(), buffer.size());
}

}  // namespace qq::net
