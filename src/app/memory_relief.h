// When the process gives freed memory back to the system, and what it sheds by the memory it has.
//
// The steps go by the resident set, since that is what a container is killed for. The allocator keeps what
// was freed: after a few large bodies at once a process that does nothing may seem full, and would refuse
// everybody until somebody's request made it reuse that memory, which nobody's may. So above kPercent of the
// limit, which is below the first step, freed memory is given back before the steps are judged: at most every
// kWaitMin, and less often, down to every kWaitMax, while that frees nothing, for it keeps other threads out
// of the allocator while it goes through what is free.
//
// Header-only, so that its test needs no more of this folder. Pure: no clock, no allocator.
#pragma once
#include <algorithm>
#include <cstddef>

#include "base/time.h"

namespace qq::app {

// 0 to 3: at 80 % large bodies are refused, at 90 % requests, at 95 % connections.
constexpr int memory_step(std::size_t used, std::size_t max) noexcept {
  const auto at_least = [&](std::size_t percent) { return used >= max / 100 * percent; };
  return at_least(95) ? 3 : at_least(90) ? 2 : at_least(80) ? 1 : 0;
}

class MemoryRelief {
 public:
  static constexpr std::size_t kPercent = 70;
  static constexpr Milliseconds kWaitMin{250};
  static constexpr Milliseconds kWaitMax{4'000};

  // Whether to give back now, with `used` bytes of `max`.
  [[nodiscard]] bool is_due(MonotonicTime now, std::size_t used, std::size_t max) const noexcept {
    return now >= next_ && used >= max / 100 * kPercent;
  }
  // To be told after each time: the resident set before and after it.
  void given_back(MonotonicTime now, std::size_t before, std::size_t after) noexcept {
    // Less than this is not worth keeping threads waiting for.
    const bool worth_it = after < before && before - after >= before / 64;
    wait_ = worth_it ? kWaitMin : std::min(wait_ * 2, kWaitMax);
    next_ = now + wait_;
  }

 private:
  MonotonicTime next_ = MonotonicTime::min();
  Milliseconds wait_ = kWaitMin;
};

}  // namespace qq::app
