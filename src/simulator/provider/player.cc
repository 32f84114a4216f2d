#include "simulator/provider/player.h"

#include <algorithm>

namespace qq::simulator {
namespace {

// Lets the loop's other coroutines run: a stream written byte by byte must not own the thread.
struct YieldAwaiter {
  net::EventLoop& loop;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { loop.resume_later(handle); }
  void await_resume() const noexcept {}
};

Task<bool> pause(net::EventLoop& loop, std::chrono::nanoseconds time, net::Scope scope) {
  const net::Scope until = scope.until(loop.precise_now() + time);
  const net::Wake wake = co_await net::sleep(loop, until);
  co_return wake != net::Wake::Cancelled;
}

Task<bool> write_all(net::Stream& stream, std::string_view bytes, net::Scope scope, Played& played) {
  while (!bytes.empty()) {
    const iovec piece = net::as_iovec(bytes);
    const net::IoTry tried = stream.try_write(std::span(&piece, 1));
    if (tried.status == net::IoStatus::Failed || tried.status == net::IoStatus::Closed) co_return false;
    played.bytes += tried.bytes;
    bytes.remove_prefix(tried.bytes);
    if (bytes.empty()) break;
    const net::Wake wake = co_await stream.writable(scope);
    if (wake != net::Wake::Ready) co_return false;
  }
  co_return true;
}

// In slices: of `split` bytes, or of what `rate` allows in 50 ms.
Task<bool> write_slowly(net::Stream& stream, std::string_view bytes, const Play& play, net::Scope scope,
                        Played& played) {
  constexpr std::uint64_t kSlicesPerSecond = 20;
  constexpr int kWritesPerTurn = 256;
  const std::uint64_t slice =
      play.split > 0 ? play.split : std::max<std::uint64_t>(1, play.rate / kSlicesPerSecond);
  int writes = 0;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, slice);
    const bool written = co_await write_all(stream, part, scope, played);
    if (!written) co_return false;
    bytes.remove_prefix(part.size());
    if (play.rate > 0) {
      const std::chrono::nanoseconds time(1'000'000'000 * part.size() / play.rate);
      const bool goes_on = co_await pause(stream.loop(), time, scope);
      if (!goes_on) co_return false;
    } else if (++writes % kWritesPerTurn == 0) {
      co_await YieldAwaiter{stream.loop()};
    }
  }
  co_return true;
}

}  // namespace

Task<Played> play_steps(net::Stream& stream, const Play& play, net::Scope scope) {
  constexpr std::size_t kBatchBytes = 64UL * 1024;
  Played played;
  for (const Step& step : play.steps) {
    if (step.pause.count() > 0) {
      const bool goes_on = co_await pause(stream.loop(), step.pause, scope);
      if (!goes_on) co_return played;
    }
    std::string batch;
    std::uint64_t per_batch = 1;
    if (step.repeat > 1 && !step.bytes.empty() && step.bytes.size() < kBatchBytes) {
      per_batch = std::min<std::uint64_t>(step.repeat, kBatchBytes / step.bytes.size());
      for (std::uint64_t i = 0; i < per_batch; ++i) batch += step.bytes;
    }
    for (std::uint64_t left = step.repeat; left > 0;) {
      const std::uint64_t now = std::min(left, per_batch);
      const std::string_view bytes = per_batch == 1
                                         ? std::string_view(step.bytes)
                                         : std::string_view(batch).substr(0, now * step.bytes.size());
      const bool slow = play.rate > 0 || play.split > 0;
      bool written = false;
      if (slow) {
        written = co_await write_slowly(stream, bytes, play, scope, played);
      } else {
        written = co_await write_all(stream, bytes, scope, played);
      }
      if (!written) co_return played;
      left -= now;
    }
  }
  played.all_written = true;
  co_return played;
}

}  // namespace qq::simulator
