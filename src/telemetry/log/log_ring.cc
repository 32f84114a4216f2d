#include "telemetry/log/log_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace qq::telemetry {

LogRing::LogRing(std::size_t capacity) : mask_(capacity - 1), bytes_(new char[capacity]) {
  QQ_ASSERT(std::has_single_bit(capacity));
}

bool LogRing::push(std::string_view line) noexcept {
  const std::size_t head = head_.load(std::memory_order_relaxed);
  const std::size_t capacity = mask_ + 1;
  if (head - known_tail_ + line.size() > capacity) {
    known_tail_ = tail_.load(std::memory_order_acquire);
    if (head - known_tail_ + line.size() > capacity) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
  }
  const std::size_t at = head & mask_;
  const std::size_t before_wrap = std::min(line.size(), capacity - at);
  std::memcpy(bytes_.get() + at, line.data(), before_wrap);
  std::memcpy(bytes_.get(), line.data() + before_wrap, line.size() - before_wrap);
  head_.store(head + line.size(), std::memory_order_release);
  return true;
}

std::array<std::string_view, 2> LogRing::peek() const noexcept {
  const std::size_t tail = tail_.load(std::memory_order_relaxed);
  const std::size_t size = head_.load(std::memory_order_acquire) - tail;
  const std::size_t at = tail & mask_;
  const std::size_t before_wrap = std::min(size, mask_ + 1 - at);
  return {std::string_view(bytes_.get() + at, before_wrap),
          std::string_view(bytes_.get(), size - before_wrap)};
}

void LogRing::consume(std::size_t bytes) noexcept {
  tail_.store(tail_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
}

}  // namespace qq::telemetry
