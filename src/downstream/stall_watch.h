// Whether a client takes anything of its answer. Who waits until more can be written learns of a slow client
// only when a good part of the kernel's buffer is free (net/stream.h, `acknowledged`); so before one counts
// as stalled, what it has acknowledged is looked at, a few times in a stall's time and not otherwise. Seldom,
// for it costs a system call; but more than once: its kernel acknowledges for a while what nobody reads, and
// a client that never reads is to be known as stalled soon after the stall's time, not after twice that.
//
//   const net::Wake wake = co_await stream.writable(watch.within(scope));
//   if (!watch.goes_on(wake, scope)) ...   // the scope has ended, or the client takes nothing
#pragma once
#include <algorithm>
#include <optional>

#include "net/event_loop.h"

namespace qq::downstream {

class StallWatch {
 public:
  StallWatch(net::Stream& stream, Milliseconds stall) noexcept : stream_(stream), stall_(stall) {}

  // The client has just taken something: its time begins again with the next wait.
  void taken() noexcept { look_at_.reset(); }
  // `scope`, or until the client is to be looked at.
  [[nodiscard]] net::Scope within(const net::Scope& scope) noexcept {
    if (!look_at_) begin();
    return scope.until(*look_at_);
  }
  // How a wait within it ended: true if another may follow.
  [[nodiscard]] bool goes_on(net::Wake wake, const net::Scope& scope) noexcept {
    if (wake == net::Wake::Ready) return true;
    const MonotonicTime now = stream_.loop().now();
    if (wake == net::Wake::Cancelled || now >= scope.deadline) return false;
    if (stream_.acknowledged() != acknowledged_) {
      begin();
      return true;
    }
    look_at_ = std::min(now + stall_ / kLooks, stalled_at_);
    return now < stalled_at_;
  }

 private:
  // So many looks in a stall's time: one that stops is cut this part of it late at most.
  static constexpr int kLooks = 4;

  // It may have taken something just now.
  void begin() noexcept {
    const MonotonicTime now = stream_.loop().now();
    look_at_ = now + stall_ / kLooks;
    stalled_at_ = now + stall_;
    acknowledged_ = stream_.acknowledged();
  }

  net::Stream& stream_;
  MonotonicTime::duration stall_;  // fine enough to be divided
  std::optional<MonotonicTime> look_at_;
  MonotonicTime stalled_at_{};
  std::uint64_t acknowledged_ = 0;
};

}  // namespace qq::downstream
