// Connections there is no room for: each is told so and closed soon after. Not at once, since a close while
// the client's request is on its way would be a reset, which may overtake the reply. A few wait at a time,
// without a coroutine each; when more come, the one that has waited longest is closed.
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>

#include "net/event_loop.h"

namespace qq::downstream {

class TurnedAway {
 public:
  // Descriptors of the process's reserve that connections_max leaves (app/descriptor_reserve.h); a guess.
  static constexpr std::size_t kMost = 16;
  // A loop's share of them, at least one.
  static constexpr std::size_t most_of_one(std::size_t loops) noexcept {
    return std::max<std::size_t>(kMost / loops, 1);
  }
  static constexpr Milliseconds kWait{1'000};

  explicit TurnedAway(net::EventLoop& loop) noexcept;
  ~TurnedAway() { clear(); }
  TurnedAway(const TurnedAway&) = delete;
  TurnedAway& operator=(const TurnedAway&) = delete;

  // Says `reply`, as far as the kernel takes it now, and sees to the rest. At most `most` wait.
  void add(std::unique_ptr<net::Stream> stream, std::string_view reply, std::size_t most);
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

 private:
  struct Waiting {
    std::unique_ptr<net::Stream> stream;
    MonotonicTime until;
  };
  struct LookTimer : net::Timer {
    explicit LookTimer(TurnedAway& owner) noexcept;
    TurnedAway& owner;
  };
  // Reads away what has come; whether the client has closed.
  bool has_closed(net::Stream& stream) noexcept;
  void look() noexcept;

  net::EventLoop& loop_;
  std::deque<Waiting> waiting_;  // the longest waiting first
  LookTimer timer_;
};

}  // namespace qq::downstream
