#include "telemetry/log/log_writer.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "telemetry/log/json_line.h"
#include "telemetry/log/timestamp.h"

namespace qq::telemetry {

LogWriter::LogWriter(LogSink sink, std::size_t rings, std::size_t ring_capacity)
    : sink_(std::move(sink)), wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  for (std::size_t i = 0; i < rings; ++i) rings_.push_back(std::make_unique<LogRing>(ring_capacity));
  // The thread takes no signals: they belong to the loops, and a reader that is gone is an error here, not
  // SIGPIPE.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  stop();
  ::close(wake_fd_);
}

void LogWriter::push(std::size_t index, std::string_view line) noexcept {
  LogRing& ring = *rings_[index];
  if (!ring.push(line)) return;
  const std::size_t pending = ring.pending();
  // Only the line that crosses the mark pays for the wake-up.
  if (pending >= kNudgeBytes && pending - line.size() < kNudgeBytes) nudge();
}

void LogWriter::nudge() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_fd_, &one, sizeof one);
}

void LogWriter::reopen() noexcept {
  reopen_.store(true, std::memory_order_release);
  nudge();
}

void LogWriter::stop() noexcept {
  stopping_.store(true, std::memory_order_release);
  nudge();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t LogWriter::dropped() const noexcept {
  std::uint64_t total = lost_at_sink_.load(std::memory_order_relaxed);
  for (const auto& ring : rings_) total += ring->dropped();
  return total;
}

void LogWriter::run() {
  pthread_setname_np(pthread_self(), "qq-log");
  std::optional<MonotonicTime> give_up;
  for (;;) {
    const bool stopping = stopping_.load(std::memory_order_acquire);
    if (reopen_.exchange(false, std::memory_order_acquire)) {
      reopen_failure_ = sink_.reopen().value_or(std::string());
      failure_in_note_ = false;
    }
    const bool all_written = write_pending();
    if (stopping) {
      const MonotonicTime now = std::chrono::steady_clock::now();
      if (!give_up) give_up = now + kStopGrace;
      if (all_written || now >= *give_up) return;
    }
    std::array<pollfd, 2> waits = {pollfd{wake_fd_, POLLIN, 0}, pollfd{sink_.descriptor(), POLLOUT, 0}};
    ::poll(waits.data(), all_written ? 1 : 2, static_cast<int>(kInterval.count()));
    if (waits[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = ::read(wake_fd_, &count, sizeof count);
    }
  }
}

bool LogWriter::write_pending() {
  if (!note_.empty() && !write_note()) return false;  // half written
  for (std::size_t turn = 0; turn < rings_.size(); ++turn) {
    LogRing& ring = *rings_[ring_in_hand_];
    for (;;) {
      std::array<std::string_view, 2> pieces = ring.peek();
      if (pieces[0].empty()) break;
      // One look at the ring is written to its end, which is the end of a line, before the next ring's turn.
      const std::optional<std::size_t> written = sink_.write(pieces);
      if (!written) {
        const auto lines = std::ranges::count(pieces[0], '\n') + std::ranges::count(pieces[1], '\n');
        lost_at_sink_.fetch_add(static_cast<std::uint64_t>(lines), std::memory_order_relaxed);
        ring.consume(pieces[0].size() + pieces[1].size());
        break;
      }
      if (*written == 0) return false;
      ring.consume(*written);
      if (*written == pieces[0].size() + pieces[1].size()) break;
    }
    ring_in_hand_ = (ring_in_hand_ + 1) % rings_.size();
  }
  return write_note();
}

void LogWriter::compose_note() {
  JsonLine line;
  Timestamp timestamp;
  const auto begin = [&](std::string_view level, std::string_view message) {
    line.begin();
    line.text("ts", timestamp.text(std::chrono::system_clock::now()));
    line.text("level", level);
    line.text("msg", message);
  };
  failure_in_note_ = !reopen_failure_.empty();
  if (failure_in_note_) {
    begin("error", "the log cannot be opened again");
    line.redacted_text("reason", reopen_failure_, JsonLine::kEventValueMax);
    note_ += line.finish();
  }
  drops_in_note_ = dropped();
  if (drops_in_note_ != noted_drops_) {
    begin("warn", "log lines dropped");
    line.integer("lines", static_cast<std::int64_t>(drops_in_note_ - noted_drops_));
    note_ += line.finish();
  }
}

bool LogWriter::write_note() {
  if (note_.empty()) compose_note();
  if (note_.empty()) return true;
  const std::optional<std::size_t> written = sink_.write({std::string_view(note_), std::string_view()});
  if (!written) {
    note_.clear();  // composed anew, until the sink takes it
    return true;
  }
  note_.erase(0, *written);
  if (!note_.empty()) return false;
  noted_drops_ = drops_in_note_;
  if (std::exchange(failure_in_note_, false)) reopen_failure_.clear();
  return true;
}

}  // namespace qq::telemetry
