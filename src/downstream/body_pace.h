// How slowly a request's body may come.
#pragma once
#include <chrono>
#include <cstddef>

#include "base/time.h"
#include "relay/settings.h"

namespace qq::downstream {

// Bodies must come at this rate once their grace is over.
inline constexpr std::int64_t kBodyBytesPerSecondMin = 1024;

// When more of a body must be there that began at `started` and of which `have` bytes have come.
inline MonotonicTime body_deadline(const relay::Timers& timers, MonotonicTime started,
                                   std::size_t have) noexcept {
  const auto earned = std::chrono::seconds(static_cast<std::int64_t>(have) / kBodyBytesPerSecondMin);
  return started + timers.client_body_grace + earned;
}

}  // namespace qq::downstream
