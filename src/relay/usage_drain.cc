#include "relay/usage_drain.h"

#include <algorithm>

#include "relay/delivery.h"

namespace qq::relay {
namespace {

constexpr Milliseconds kLongest{10'000};
constexpr std::int64_t kShare = 50;  // one in so many of the loop's requests in flight, and one always
// A shutdown is noticed this late at most.
constexpr Milliseconds kLook{1'000};

// A place among those that drain, if there is one.
class Place {
 public:
  explicit Place(LoopServices& services) noexcept : services_(services), taken_(has_room(services)) {
    if (taken_) ++services_.usage_drains;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (taken_) --services_.usage_drains;
  }
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  static bool has_room(const LoopServices& services) noexcept {
    const std::int64_t places = services.counters.requests_in_flight.get() / kShare;
    return services.usage_drains < std::max(places, std::int64_t{1});
  }

  LoopServices& services_;
  bool taken_;
};

}  // namespace

bool wants_usage(const model::Attempt& attempt, const Error& ended) noexcept {
  return attempt.target->drain_for_usage && is_lost_client(ended);
}

Task<void> drain_for_usage(RequestState& state, UpstreamReply& reply, UsageReader& reader) {
  const Place place(state.services);
  if (!place.taken()) co_return;
  if (state.heartbeat) state.heartbeat->stop();
  state.incoming.free_body();
  net::EventLoop& loop = state.services.loop;
  const MonotonicTime deadline = loop.now() + kLongest;
  while (loop.now() < deadline && !state.services.process.draining.load(std::memory_order_relaxed)) {
    const UpstreamReply::Piece piece = reply.try_read();
    if (piece.kind == UpstreamReply::Piece::Kind::WouldBlock) {
      const net::Scope waiting{std::min(deadline, loop.now() + kLook), nullptr};
      static_cast<void>(co_await reply.readable(waiting));  // the time is looked at anyway
    } else if (!reader.read_usage(piece) || piece.kind != UpstreamReply::Piece::Kind::Bytes || piece.last) {
      co_return;
    }
  }
}

}  // namespace qq::relay
