// Whether a client takes anything of its answer. Who waits until more can be written learns of a slow client
// only when a good part of the kernel's buffer is free (net/stream.h, `acknowledged`); so before one counts
// as stalled, what it has acknowledged is looked at, once in a stall's time and not otherwise.
//
//   const net::Wake wake = co_await stream.writable(watch.within(scope));
//   if (!watch.goes_on(wake, scope)) ...   // the scope has ended, or the client takes nothing
#pragma once
#include <optional>

#include "net/event_loop.h"

namespace qq::downstream {

class StallWatch {
 public:
  StallWatch(net::Stream& stream, Milliseconds stall) noexcept : stream_(stream), stall_(stall) {}

  // The client has just taken something: its time begins again with the next wait.
  void taken() noexcept { until_.reset(); }
  // `scope`, or as long as the client may take nothing.
  [[nodiscard]] net::Scope within(const net::Scope& scope) noexcept {
    if (!until_) arm();
    return scope.until(*until_);
  }
  // How a wait within it ended: true if another may follow.
  [[nodiscard]] bool goes_on(net::Wake wake, const net::Scope& scope) noexcept {
    if (wake == net::Wake::Ready) return true;
    if (wake == net::Wake::Cancelled || stream_.loop().now() >= scope.deadline) return false;
    const std::uint64_t before = acknowledged_;
    arm();
    return acknowledged_ != before;
  }

 private:
  void arm() noexcept {
    until_ = stream_.loop().now() + stall_;
    acknowledged_ = stream_.acknowledged();
  }

  net::Stream& stream_;
  Milliseconds stall_;
  std::optional<MonotonicTime> until_;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace qq::downstream
