// A histogram of one loop: written by its thread alone, read by any; no locked instruction.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>

#include "relay/loop_counters.h"

namespace qq::telemetry {

// Upper bounds of the buckets, ascending; what lies above the last goes to one more bucket.
template <std::size_t N>
using Bounds = std::array<std::chrono::nanoseconds, N>;

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers): only for the tables below

inline constexpr Bounds<14> kOverheadBounds = {10us,  20us, 30us, 50us, 75us, 100us, 200us,
                                               500us, 1ms,  2ms,  5ms,  10ms, 50ms,  250ms};
// The buckets of OpenTelemetry's gen_ai.server.time_to_first_token, and two for reasoning models.
inline constexpr Bounds<18> kTtftBounds = {1ms,    5ms,    10ms,   20ms,     40ms,     60ms,
                                           80ms,   100ms,  250ms,  500ms,    750ms,    1000ms,
                                           2500ms, 5000ms, 7500ms, 10'000ms, 30'000ms, 60'000ms};
// The buckets of gen_ai.server.request.duration (10 ms doubling), with three more for reasoning models.
inline constexpr Bounds<17> kDurationBounds = {10ms,     20ms,     40ms,      80ms,      160ms,    320ms,
                                               640ms,    1280ms,   2560ms,    5120ms,    10'240ms, 20'480ms,
                                               40'960ms, 81'920ms, 163'840ms, 327'680ms, 655'360ms};

template <const auto& kBounds>
class Histogram {
 public:
  static constexpr std::size_t kBuckets = kBounds.size() + 1;

  void observe(std::chrono::nanoseconds value) noexcept {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && value > kBounds[bucket]) ++bucket;
    counts_[bucket].add();
    sum_ns_.add(value.count());
  }
  [[nodiscard]] std::int64_t count(std::size_t bucket) const noexcept { return counts_[bucket].get(); }
  [[nodiscard]] std::int64_t sum_ns() const noexcept { return sum_ns_.get(); }

 private:
  std::array<relay::Counter, kBuckets> counts_;  // not cumulative
  relay::Counter sum_ns_;
};

}  // namespace qq::telemetry
