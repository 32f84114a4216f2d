// Log lines on their way from one loop to the writer thread: a ring of bytes with one producer and one
// consumer, no lock and no waiting. When the ring is full the line is dropped and counted; the loop never
// waits for a log.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace qq::telemetry {

class LogRing {
 public:
  // A power of two, larger than any line.
  explicit LogRing(std::size_t capacity = 1U << 20U);

  // Producer: takes the whole line or drops it.
  bool push(std::string_view line) noexcept;
  // Producer: bytes the consumer has not taken.
  [[nodiscard]] std::size_t pending() const noexcept {
    return head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed);
  }

  // Consumer: the oldest bytes, in up to two pieces; together they end at the end of a line.
  [[nodiscard]] std::array<std::string_view, 2> peek() const noexcept;
  void consume(std::size_t bytes) noexcept;

  // Any thread.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::size_t mask_;
  std::unique_ptr<char[]> bytes_;
  alignas(64) std::atomic<std::size_t> head_{0};  // written by the producer
  std::atomic<std::uint64_t> dropped_{0};
  std::size_t known_tail_ = 0;                    // the producer's last look at tail_
  alignas(64) std::atomic<std::size_t> tail_{0};  // written by the consumer
};

}  // namespace qq::telemetry
