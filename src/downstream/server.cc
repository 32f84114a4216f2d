#include "downstream/server.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "dialects/openai/errors.h"
#include "downstream/connection.h"

namespace qq::downstream {
namespace {

// What is cut at the end of the drain time gets this long to send its error event.
constexpr Milliseconds kLastWords{3'000};
// Who has asked /readyz within this time will ask again. A guess: load balancers ask every 5 to 30 seconds.
constexpr Milliseconds kReadinessWatched{60'000};

// Ready-made, as there may be many. Clients retry a 503; the connection that carried it cannot be kept.
std::string no_room(std::string what) {
  const auto encoded =
      dialects::openai::encode_error(Error::gateway(ErrorKind::Saturated, std::move(what)), {});
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
      "retry-after-ms: 1000\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}",
      encoded.body.size(), encoded.body);
}

std::string_view out_of_descriptors_reply() {
  static const std::string kReply = no_room("the gateway is out of file descriptors; try again shortly");
  return kReply;
}

std::string_view full_reply() {
  static const std::string kReply = no_room(
      "the gateway has as many connections as it may have (limits.connections_max); try again shortly");
  return kReply;
}

}  // namespace

Server::Server(relay::LoopServices& services, Shared& shared)
    : services_(services),
      shared_(shared),
      turned_away_(services.loop),
      ending_(services.loop),
      cut_(services.loop) {
  self_ = shared_.spread.add_loop(services_.loop, [this](net::AcceptedSocket socket, std::size_t listener) {
    serve(std::move(socket), listener);
  });
}

Server::~Server() {
  QQ_ASSERT(connections_.empty());
}

Result<> Server::listen(Server* first) {
  for (std::size_t i = 0; i < shared_.listeners.size(); ++i) {
    auto accepted = [this, i](net::AcceptedSocket socket) {
      shared_.spread.accepted(self_, std::move(socket), i);
    };
    if (first != nullptr) {
      QQ_TRY(auto listener, services_.loop.share(*first->listening_[i], std::move(accepted)));
      listening_.push_back(std::move(listener));
      continue;
    }
    net::ListenOptions options;
    QQ_TRY(options.address, net::Address::parse(shared_.listeners[i].config.address));
    // Who expects a handshake cannot read it.
    if (!shared_.listeners[i].tls) options.out_of_descriptors_reply = out_of_descriptors_reply();
    QQ_TRY(auto listener, services_.loop.listen(options, std::move(accepted)));
    listening_.push_back(std::move(listener));
  }
  return {};
}

std::vector<net::Address> Server::local_addresses() const {
  std::vector<net::Address> addresses;
  for (const auto& listener : listening_) addresses.push_back(listener->local());
  return addresses;
}

bool Server::takes_requests() const noexcept {
  return !services_.process.draining.load(std::memory_order_relaxed) || draining_since_ == MonotonicTime{} ||
         services_.loop.now() - draining_since_ < services_.snapshot->timers.drain_announce;
}

void Server::note_readiness_asked() noexcept {
  shared_.readiness_asked.store(services_.loop.now(), std::memory_order_relaxed);
}

MonotonicTime Server::announced_until() const noexcept {
  const MonotonicTime asked = shared_.readiness_asked.load(std::memory_order_relaxed);
  if (asked == MonotonicTime{} || draining_since_ - asked > kReadinessWatched) return draining_since_;
  return std::min(draining_since_ + services_.snapshot->timers.drain_announce, drain_deadline_);
}

bool Server::is_full_for(const ListenerConfig& listener) const noexcept {
  if (!listener.serve_api)
    return shared_.operator_connections.load(std::memory_order_relaxed) >= kOperatorConnectionsMax;
  const std::size_t most = shared_.connections_per_loop_max;
  return most != 0 && client_connections_ >= most;
}

void Server::count_connection(const ListenerConfig& listener, int change) noexcept {
  services_.counters.connections_open.add(change);
  // Unsigned, so that adding -1 takes one away.
  if (listener.serve_api) {
    client_connections_ += static_cast<std::size_t>(change);
  } else {
    shared_.operator_connections.fetch_add(static_cast<std::size_t>(change), std::memory_order_relaxed);
  }
}

void Server::serve(net::AcceptedSocket socket, std::size_t listener) {
  const Listening& listening = shared_.listeners[listener];
  const bool full = is_full_for(listening.config);
  const bool short_of_memory =
      listening.config.serve_api && services_.process.memory_step.load(std::memory_order_relaxed) >= 3;
  if (drained_ || full || short_of_memory) {
    services_.counters.connections_refused.add();
    shared_.spread.closed(self_);
    // Otherwise the socket just closes: there is no memory for words, or nobody left to say them; and a TLS
    // handshake is too much to do for a refusal.
    const bool speaks = full && !drained_ && !listening.tls;
    if (speaks) {
      turned_away_.add(services_.loop.adopt(std::move(socket)), full_reply(),
                       TurnedAway::most_of_one(shared_.spread.loops()));
    }
    return;
  }
  services_.counters.connections_accepted.add();
  tasks_.spawn(run_connection(*this, services_.loop.adopt(std::move(socket)), listener));
}

Task<void> Server::run_connection(Server& server, std::unique_ptr<net::Stream> stream, std::size_t listener) {
  const Listening& listening = server.shared_.listeners[listener];
  server.count_connection(listening.config, 1);
  if (listening.tls) {
    const net::Scope shaking{server.services_.loop.now() + server.services_.snapshot->timers.client_head,
                             &server.ending_};
    Result<std::unique_ptr<net::Stream>> shaken =
        co_await net::tls_accept(std::move(stream), listening.tls, shaking);
    stream = shaken ? *std::move(shaken) : nullptr;
  }
  if (stream) {
    Connection connection(server, *stream, listening.config);
    server.connections_.insert(&connection);
    if (server.draining_since_ != MonotonicTime{}) connection.ask_to_finish();
    co_await connection.serve();
    server.connections_.erase(&connection);
  }
  stream.reset();
  server.count_connection(listening.config, -1);
  server.shared_.spread.closed(server.self_);
}

Task<void> Server::drain(Milliseconds drain_time) {
  net::EventLoop& loop = services_.loop;
  draining_since_ = loop.now();
  drain_until(draining_since_ + drain_time);
  constexpr Milliseconds kLook{20};
  MonotonicTime cut_at = kNever;
  for (;;) {
    bool running = false;
    for (Connection* connection : connections_) {
      connection->ask_to_finish();
      running = running || connection->runs_request();
    }
    const MonotonicTime now = loop.now();
    const bool announced = now >= announced_until();
    if (announced && shared_.spread.open() == 0) break;
    // Who comes from now on would be told to go elsewhere at best. What is left then is short.
    shared_.spread.note_quiet(self_, announced && !running);
    if (shared_.spread.all_quiet()) listening_.clear();
    if (cut_at == kNever && now >= drain_deadline_) {
      cut_at = now + kLastWords;
      listening_.clear();
      ending_.cancel(ErrorKind::ShuttingDown);
      for (Connection* connection : connections_) connection->terminate();
    }
    if (now >= cut_at) break;
    const net::Scope look{now + kLook, nullptr};
    static_cast<void>(co_await net::sleep(loop, look));
  }
  listening_.clear();
  for (Connection* connection : connections_) connection->terminate();  // what came after the first time
  shared_.spread.leave(self_);
  drained_ = true;  // a connection that another loop handed over just now is closed
  turned_away_.clear();
  cut_.cancel(ErrorKind::ShuttingDown);
  co_await tasks_.joined();
}

}  // namespace qq::downstream
