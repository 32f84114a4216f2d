#include "downstream/body_intake.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "downstream/body_pace.h"
#include "downstream/refusals.h"

namespace qq::downstream {
namespace {

// What the body costs: also the room that was made for what has yet to come.
std::size_t bytes_held(const Admitted& admitted) noexcept {
  const std::string& body = admitted.incoming.body;
  return body.empty() ? 0 : std::max(body.size(), std::min(admitted.announced, body.capacity()));
}

// Reads more of a body of known length to where it belongs. Its buffer grows as bytes come and never beyond
// what was announced, so that nothing of the next request is read.
net::IoTry read_in_place(const BodySource& source, Admitted& admitted) {
  std::string& body = admitted.incoming.body;
  if (body.capacity() < std::min(admitted.announced, relay::SpareBodies::kSizeMax)) {
    if (!source.stream.maybe_readable()) return {};  // nothing to make room for yet
    std::string larger = source.services.spare_bodies.take(admitted.announced);
    larger.append(body);
    source.services.spare_bodies.give_back(std::exchange(body, std::move(larger)));
  }
  const std::size_t have = body.size();
  if (have == body.capacity()) body.reserve(std::min(admitted.announced, 2 * have));
  const std::size_t most = std::min(admitted.announced, body.capacity()) - have;
  net::IoTry got;
  body.resize_and_overwrite(have + most, [&](char* bytes, std::size_t /*size*/) {
    got = source.stream.try_read({bytes + have, most});
    return have + (got.status == net::IoStatus::Done ? got.bytes : 0);
  });
  return got;
}

// The newest bytes of a body that was read in place.
std::optional<Error> count_bytes(relay::LoopServices& services, Admitted& admitted, std::size_t newest) {
  const std::string_view body = admitted.incoming.body;
  const auto step = admitted.reader.feed(body.substr(body.size() - newest));
  QQ_ASSERT(step.error == nullptr && step.consumed == newest);
  if (!admitted.incoming.budget.grow_to(services, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

std::optional<Error> take_bytes(const BodySource& source, Admitted& admitted, std::string_view bytes) {
  std::string& body = admitted.incoming.body;
  const std::size_t max = admitted.incoming.snapshot->limits.body_max;
  while (!bytes.empty() && !admitted.reader.done()) {
    const auto step = admitted.reader.feed(bytes);
    if (step.error != nullptr) return malformed_body(step.error);
    if (body.size() + step.payload.size() + admitted.reader.announced_bytes() > max) return too_large(max);
    body.append(step.payload);
    bytes.remove_prefix(step.consumed);
  }
  source.behind.assign(bytes);
  if (!admitted.incoming.budget.grow_to(source.services, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

Error not_awaited(net::Wake wake, ClientWriter& client) {
  return wake == net::Wake::Deadline
             ? too_slow()
             : Error::gateway(client.gone().reason(), "the gateway is shutting down; try again");
}

}  // namespace

std::optional<Error> take_first_bytes(relay::LoopServices& services, const wire::Framing& framing,
                                      Admitted& admitted, std::string_view& rest) {
  std::string& body = admitted.incoming.body;
  const std::size_t body_max = admitted.incoming.snapshot->limits.body_max;
  const std::size_t announced = framing.kind == wire::Framing::Kind::Length ? framing.length : 0;
  admitted.announced = announced;
  // An announced length is only reserved as bytes come: a stranger's word must not cost memory.
  if (announced > 0 && !rest.empty()) {
    const std::size_t come = std::min(announced, rest.size());
    body = services.spare_bodies.take(come);
    body.reserve(come);
  }
  while (!rest.empty() && !admitted.reader.done()) {
    const auto step = admitted.reader.feed(rest);
    if (step.error != nullptr) return malformed_body(step.error);
    // Also by what a chunk only announces: nobody need wait for it.
    if (body.size() + step.payload.size() + admitted.reader.announced_bytes() > body_max)
      return too_large(body_max);
    body.append(step.payload);
    rest.remove_prefix(step.consumed);
  }
  if (!admitted.incoming.budget.grow_to(services, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

Task<void> read_body(BodySource source, Admitted& admitted) {
  net::Cancellation& gone = source.client.gone();
  if (admitted.wants_continue) {
    auto taken = source.client.send_continue();
    if (taken == relay::ClientPort::Taken::Pending) {
      const net::Scope scope{kNever, &gone};
      Result<> flushed = co_await source.client.flush(scope);
      if (!flushed) taken = relay::ClientPort::Taken::Gone;
    }
    if (taken == relay::ClientPort::Taken::Gone) {
      admitted.refusal = client_left_inside();
      co_return;
    }
  }
  const MonotonicTime started = source.services.loop.now();
  while (!admitted.reader.done()) {
    const std::span<char> scratch = source.services.loop.scratch();
    const net::IoTry got =
        admitted.announced > 0 ? read_in_place(source, admitted) : source.stream.try_read(scratch);
    if (got.status == net::IoStatus::WouldBlock) {
      const net::Scope waiting{
          body_deadline(admitted.incoming.snapshot->timers, started, admitted.incoming.body.size()), &gone};
      const MonotonicTime from = source.services.loop.precise_now();
      const net::Wake wake = co_await source.stream.readable(waiting);
      source.client.count_wait(from);
      if (wake != net::Wake::Ready) {
        admitted.refusal = not_awaited(wake, source.client);
        admitted.body_unread = true;
        co_return;
      }
      continue;
    }
    if (got.status != net::IoStatus::Done) {
      admitted.refusal = client_left_inside();
      co_return;
    }
    source.services.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
    admitted.refusal = admitted.announced > 0 ? count_bytes(source.services, admitted, got.bytes)
                                              : take_bytes(source, admitted, {scratch.data(), got.bytes});
    if (admitted.refusal) {
      admitted.body_unread = true;
      co_return;
    }
  }
}

}  // namespace qq::downstream
