#include "net/timer_wheel.h"

#include <bit>

namespace qq::net {
namespace {
using Tick = std::chrono::milliseconds;
}

TimerWheel::~TimerWheel() {
  for (Timer*& head : heads_) {
    while (head != nullptr) unlink(*head);
  }
}

std::uint64_t TimerWheel::tick_at_or_after(MonotonicTime when) const noexcept {
  if (when <= start_) return 0;
  return static_cast<std::uint64_t>(std::chrono::ceil<Tick>(when - start_).count());
}

void TimerWheel::arm(Timer& timer, MonotonicTime when) noexcept {
  if (timer.armed()) unlink(timer);
  timer.when_ = when;
  insert(timer, std::max(tick_at_or_after(when), firing_ ? tick_ + 1 : tick_));
}

void TimerWheel::disarm(Timer& timer) noexcept {
  if (timer.armed()) unlink(timer);
}

void TimerWheel::insert(Timer& timer, std::uint64_t tick) noexcept {
  const std::uint64_t differs = tick ^ tick_;
  const unsigned level = differs == 0 ? 0 : (static_cast<unsigned>(std::bit_width(differs)) - 1) / kBits;
  const auto index = static_cast<unsigned>(tick >> (level * kBits)) & (kSlots - 1);
  timer.slot_ = level * kSlots + index;
  Timer*& head = heads_[timer.slot_];
  if (head == nullptr) {
    timer.prev_ = timer.next_ = &timer;
    head = &timer;
    used_[level] |= std::uint64_t{1} << index;
  } else {  // last in the ring, so that equal ticks fire in the order of arming
    timer.next_ = head;
    timer.prev_ = head->prev_;
    head->prev_->next_ = &timer;
    head->prev_ = &timer;
  }
}

void TimerWheel::unlink(Timer& timer) noexcept {
  Timer*& head = heads_[timer.slot_];
  if (timer.next_ == &timer) {
    head = nullptr;
    used_[timer.slot_ / kSlots] &= ~(std::uint64_t{1} << (timer.slot_ % kSlots));
  } else {
    timer.prev_->next_ = timer.next_;
    timer.next_->prev_ = timer.prev_;
    if (head == &timer) head = timer.next_;
  }
  timer.prev_ = timer.next_ = nullptr;
}

bool TimerWheel::first_slot(Slot& found) const noexcept {
  for (unsigned level = 0; level < kLevels; ++level) {
    if (used_[level] == 0) continue;
    const auto index = static_cast<unsigned>(std::countr_zero(used_[level]));
    const unsigned shift = level * kBits;
    const std::uint64_t rotation = tick_ >> (shift + kBits) << (shift + kBits);
    found = {level, index, rotation | std::uint64_t{index} << shift};
    return true;
  }
  return false;
}

void TimerWheel::advance(MonotonicTime now) noexcept {
  if (now < start_) return;
  const auto now_tick = static_cast<std::uint64_t>(std::chrono::floor<Tick>(now - start_).count());
  firing_ = true;
  Slot slot{};
  while (first_slot(slot) && slot.tick <= now_tick) {
    tick_ = std::max(tick_, slot.tick);
    Timer*& head = heads_[slot.level * kSlots + slot.index];
    while (head != nullptr) {
      Timer& timer = *head;
      unlink(timer);
      if (slot.level == 0) {
        timer.fire_(timer);
      } else {
        insert(timer, std::max(tick_at_or_after(timer.when_), tick_));
      }
    }
  }
  tick_ = std::max(tick_, now_tick);
  firing_ = false;
}

MonotonicTime TimerWheel::next() const noexcept {
  Slot slot{};
  if (!first_slot(slot)) return kNever;
  return start_ + Tick(std::max(slot.tick, tick_));
}

}  // namespace qq::net
