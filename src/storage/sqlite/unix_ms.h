// Times as files keep them: milliseconds since 1970.
#pragma once
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace qq::storage {

inline std::int64_t unix_ms(WallTime time) noexcept {
  return std::chrono::floor<Milliseconds>(time.time_since_epoch()).count();
}

inline WallTime wall_time(std::int64_t milliseconds) noexcept {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(Milliseconds(milliseconds)));
}

}  // namespace qq::storage
