#include "relay/usage_drain.h"

#include "relay/delivery.h"

namespace qq::relay {
namespace {

// Nobody's taking slows a drain down: a provider that always has more must not own the thread.
constexpr unsigned kReadsInATurn = 16;

// Lets the loop's other coroutines run.
struct NextTurn {
  net::EventLoop& loop;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { loop.resume_later(handle); }
  void await_resume() const noexcept {}
};

// The request's place, taken when it is first asked for.
std::optional<MonotonicTime> wait_until(RequestState& state) {
  if (!state.drain_place) {
    state.drain_place = std::make_unique<DrainPlace>(state.services);
    if (state.heartbeat) state.heartbeat->stop();
  }
  return state.drain_place->wait_until();
}

}  // namespace

std::optional<MonotonicTime> WaitForUsage::wait_until() {
  if (state_.client.gone().reason() != ErrorKind::ClientGone) return std::nullopt;
  return relay::wait_until(state_);
}

bool wants_usage(const model::Attempt& attempt, const Error& ended) noexcept {
  return attempt.target->drain_for_usage && is_lost_client(ended);
}

Task<void> drain_for_usage(RequestState& state, UpstreamReply& reply, UsageReader& reader) {
  for (unsigned reads = 1;; ++reads) {
    const std::optional<MonotonicTime> until = wait_until(state);
    if (!until) co_return;
    state.incoming.free_body();
    const UpstreamReply::Piece piece = reply.try_read();
    if (piece.kind == UpstreamReply::Piece::Kind::WouldBlock) {
      const net::Scope waiting{*until, nullptr};
      const MonotonicTime from = state.services.loop.precise_now();
      static_cast<void>(co_await reply.readable(waiting));  // the time is looked at anyway
      count_wait(state, from);
    } else if (!reader.read_usage(piece) || piece.kind != UpstreamReply::Piece::Kind::Bytes || piece.last) {
      co_return;
    }
    if (reads % kReadsInATurn == 0) co_await NextTurn{state.services.loop};
  }
}

}  // namespace qq::relay
