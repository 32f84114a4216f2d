// Logs and metrics of the process: one observer per loop, one thread that writes the log, one text for
// /metrics. A request costs its loop about half a microsecond and never a wait.
//
//   Telemetry telemetry({.log_fd = 2, .level = Level::Info, .loops = 4});
//   relay on loop i: telemetry.observer(i).request_ended(record);
//   /metrics:        telemetry.render_metrics({...});
//   the end:         telemetry.stop();
#pragma once
#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "relay/loop_counters.h"
#include "relay/request_record.h"
#include "telemetry/log/level.h"
#include "telemetry/metrics/exposition.h"

namespace qq::telemetry {

class LogWriter;

struct Options {
  int log_fd = 2;        // used when `log_path` is empty; borrowed
  std::string log_path;  // a file to append to
  Level level = Level::Info;
  int loops = 1;              // >= 1
  std::string version = "0";  // for queqiao_build_info
};

// One value of a life-cycle line; texts are escaped and have credentials masked.
struct Field {
  std::string_view name;  // a literal of ours
  std::variant<std::string_view, std::int64_t, bool> value;
};

class Telemetry {
 public:
  // Throws std::system_error if the log cannot be opened.
  explicit Telemetry(Options options);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // To be called on loop `loop`'s thread only.
  relay::RequestObserver& observer(int loop);
  // Shows a loop's counters in /metrics; they must live until the next attach or stop.
  void attach(int loop, const relay::LoopCounters* counters);

  // Any thread.
  [[nodiscard]] std::string render_metrics(const ScrapeFacts& scrape) const;
  // Start, reload, drain and the like: rare lines, from any thread.
  void log_event(Level level, std::string_view message, std::initializer_list<Field> fields = {});
  void set_level(Level level) noexcept { level_.store(level, std::memory_order_relaxed); }
  [[nodiscard]] Level level() const noexcept { return level_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t log_lines_dropped() const noexcept;
  // Opens the log file again, after a rotation.
  void reopen_log() noexcept;
  // Writes what is pending (waiting at most a second for a sink that does not take it). No line is written
  // afterwards; metrics go on. Idempotent.
  void stop() noexcept;

 private:
  class LoopObserver;

  std::string version_;
  std::atomic<Level> level_;
  std::unique_ptr<LogWriter> writer_;
  std::vector<std::unique_ptr<LoopObserver>> observers_;
  std::mutex events_;  // life-cycle lines share one ring
};

}  // namespace qq::telemetry
