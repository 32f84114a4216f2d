#include "downstream/closing.h"

#include <algorithm>
#include <optional>

#include "downstream/server.h"
#include "downstream/stall_watch.h"

namespace qq::downstream {
namespace {

// How long a client that was answered is heard out before its connection is closed, from when it last took
// some of the answer: who writes a whole body before it reads shall find the answer and no reset. A guess.
constexpr Milliseconds kLinger{5'000};
// What is read of it at most; if too many others are heard out already, much less.
constexpr std::size_t kHeardOutMin = 16U << 20U;
constexpr std::size_t kUnheardMax = 256UL * 1024;

}  // namespace

Task<void> settle(net::Stream& stream, net::Scope scope, Milliseconds stall) {
  StallWatch watch(stream, stall);
  while (!stream.settle()) {
    const net::Wake wake = co_await stream.writable(watch.within(scope));
    if (!watch.goes_on(wake, scope)) co_return;
  }
}

Task<void> linger(Server& server, net::Stream& stream, net::Scope scope, std::size_t body_max,
                  BodyUnread unread) {
  stream.shutdown_write();
  std::optional<Server::Lingering> place;
  std::size_t most = kUnheardMax;
  const auto take_place = [&] {
    const bool granted = place.emplace(server).granted();
    if (granted) most = std::max(2 * body_max, kHeardOutMin);
    return granted;
  };
  // Waiting costs no more than an idle connection does, reading costs work: to have much of it read takes a
  // place, and so does to wait at all for who is known to send much.
  const bool waits = unread == BodyUnread::No || take_place();
  relay::LoopServices& services = server.services();
  StallWatch watch(stream, kLinger);
  for (std::size_t drained = 0;;) {
    const net::IoTry got = stream.try_read(services.loop.scratch());
    if (got.status == net::IoStatus::Done) {
      drained += got.bytes;
      services.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
      if (drained < most) continue;
      const bool reads_on = !place && take_place();
      if (!reads_on) co_return;
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock || !waits) co_return;
    const net::Wake wake = co_await stream.readable(watch.within(scope));
    if (!watch.goes_on(wake, scope)) co_return;
  }
}

}  // namespace qq::downstream
