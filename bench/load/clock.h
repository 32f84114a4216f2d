// Monotonic nanoseconds. The mock stamps its events with them and the generator, on the same machine,
// subtracts: that difference is the relay delay.
#pragma once
#include <sys/prctl.h>

#include <cstdint>
#include <ctime>

namespace qq::bench {

constexpr std::int64_t kSecond = 1'000'000'000;

inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

inline timespec to_timespec(std::int64_t ns) {
  return ns <= 0 ? timespec{} : timespec{ns / kSecond, ns % kSecond};
}

// Without this the kernel rounds our waits up by 50 us, more than the differences we look for.
inline void ask_for_exact_timers() {
  prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace qq::bench
