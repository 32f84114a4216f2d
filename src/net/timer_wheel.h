// A hierarchical timer wheel of intrusive timers: arming and disarming are O(1) and allocate nothing, and an
// idle wheel costs nothing, since the loop sleeps until the next slot that holds a timer.
//
// Level n has 64 slots of 64^n ms. A timer stands on the level of the highest bit in which its tick differs
// from the current one, so every slot of a level lies before every slot of the next; when time enters a slot
// of a higher level, its timers move down.
//
// Source: G. Varghese, A. Lauck, "Hashed and Hierarchical Timing Wheels", 1987, scheme 7; the choice of
// the level by the differing bit follows Tokio's wheel.
//
// A timer is never early and less than one tick (1 ms) late, as seen by the times given to `advance`.
#pragma once
#include <array>
#include <cstdint>

#include "base/time.h"
#include "net/wait.h"

namespace qq::net {

class TimerWheel {
 public:
  explicit TimerWheel(MonotonicTime start) noexcept : start_(start) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  ~TimerWheel();  // leaves what is armed disarmed

  // Re-arming moves the timer.
  void arm(Timer& timer, MonotonicTime when) noexcept;
  void disarm(Timer& timer) noexcept;
  // Fires all that are due at `now`, tick by tick. They may arm and disarm any timer; one that re-arms
  // itself for the past fires in the next tick.
  void advance(MonotonicTime now) noexcept;
  // When `advance` next has something to do; kNever when no timer is armed.
  [[nodiscard]] MonotonicTime next() const noexcept;

 private:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kSlots = 1U << kBits;
  static constexpr unsigned kLevels = 8;  // 2^48 ms: beyond what 64 bits of nanoseconds can say

  struct Slot {
    unsigned level;
    unsigned index;
    std::uint64_t tick;  // where it begins
  };
  [[nodiscard]] bool first_slot(Slot& found) const noexcept;
  [[nodiscard]] std::uint64_t tick_at_or_after(MonotonicTime when) const noexcept;
  void insert(Timer& timer, std::uint64_t tick) noexcept;
  void unlink(Timer& timer) noexcept;

  MonotonicTime start_;
  std::uint64_t tick_ = 0;  // all before it has fired
  bool firing_ = false;
  std::array<std::uint64_t, kLevels> used_{};  // one bit a slot
  std::array<Timer*, kLevels * kSlots> heads_{};
};

}  // namespace qq::net
