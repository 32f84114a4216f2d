// Request ids: ULIDs (48 bits of milliseconds, 80 random bits, Crockford base 32, 26 characters).
// They sort by time and are unique without coordination. Source: github.com/ulid/spec.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "base/time.h"

namespace qq {

class RequestId {
 public:
  static RequestId make(WallTime now, Random& random) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 26> text_{};
};

}  // namespace qq
