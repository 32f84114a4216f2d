// The one thread that writes log lines. It takes what the loops left in their rings every 100 ms, or when a
// ring holds 64 KiB and its loop says so; while the sink takes nothing it waits, the rings fill, and further
// lines are dropped and counted. After a drop it says in the log how many lines are missing.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "telemetry/log/log_ring.h"
#include "telemetry/log/log_sink.h"

namespace qq::telemetry {

class LogWriter {
 public:
  static constexpr std::size_t kNudgeBytes = 64U << 10U;
  static constexpr Milliseconds kInterval{100};
  static constexpr Milliseconds kStopGrace{1'000};  // for a sink that takes nothing when we stop

  LogWriter(LogSink sink, std::size_t rings, std::size_t ring_capacity = 1U << 20U);
  ~LogWriter();

  // Each ring has one producer at a time.
  LogRing& ring(std::size_t index) { return *rings_[index]; }
  // The producer of `ring(index)` hands over one line.
  void push(std::size_t index, std::string_view line) noexcept;
  // Opens the log file again, after a rotation. If that fails, an error line in the old one says why.
  void reopen() noexcept;
  // Writes what is pending, waiting at most kStopGrace for the sink, and ends the thread. Idempotent.
  void stop() noexcept;
  // Lines that were lost: rings full, sink broken.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

 private:
  void run();
  bool write_pending();  // false: the sink takes nothing now
  bool write_note();
  void compose_note();
  void nudge() noexcept;

  LogSink sink_;
  std::vector<std::unique_ptr<LogRing>> rings_;
  int wake_fd_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> reopen_{false};
  std::atomic<std::uint64_t> lost_at_sink_{0};
  std::uint64_t noted_drops_ = 0;    // in notes that were written
  std::uint64_t drops_in_note_ = 0;  // when note_ was composed
  std::string reopen_failure_;       // to be told
  bool failure_in_note_ = false;     // when note_ was composed
  std::string note_;                 // lines of our own, or what is left of them
  std::size_t ring_in_hand_ = 0;     // whose line may be half written
  std::thread thread_;
};

}  // namespace qq::telemetry
