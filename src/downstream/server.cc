#include "downstream/server.h"

#include "base/assert.h"
#include "downstream/connection.h"

namespace qq::downstream {
namespace {

// Clients retry a 503; the connection that carried it cannot be kept.
constexpr std::string_view kOutOfDescriptorsReply =
    "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
    "connection: close\r\ncontent-length: 135\r\n\r\n"
    R"({"error":{"message":"the gateway is out of file descriptors; try again shortly","type":"server_error","param":null,"code":"saturated"}})";

// What is cut at the end of the drain time gets this long to send its error event.
constexpr Milliseconds kLastWords{3'000};

constexpr std::size_t body_length(std::string_view reply) {
  return reply.size() - (reply.find("\r\n\r\n") + 4);
}
static_assert(body_length(kOutOfDescriptorsReply) == 135, "content-length above must match");

}  // namespace

Server::Server(relay::LoopServices& services, Shared& shared) : services_(services), shared_(shared) {
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
    options.out_of_descriptors_reply = kOutOfDescriptorsReply;
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
         services_.loop.now() - draining_since_ < kServeWhileDraining;
}

void Server::serve(net::AcceptedSocket socket, std::size_t listener) {
  const std::size_t connections_max = shared_.connections_per_loop_max;
  const bool full = connections_max != 0 && tasks_.running() >= connections_max;
  if (drained_ || full || services_.process.memory_step.load(std::memory_order_relaxed) >= 3) {
    services_.counters.connections_refused.add();
    shared_.spread.closed(self_);
    return;  // the socket closes
  }
  services_.counters.connections_accepted.add();
  tasks_.spawn(run_connection(*this, services_.loop.adopt(std::move(socket)), listener));
}

Task<void> Server::run_connection(Server& server, std::unique_ptr<net::Stream> stream, std::size_t listener) {
  const Listening& listening = server.shared_.listeners[listener];
  server.services_.counters.connections_open.add(1);
  if (listening.tls) {
    const net::Scope shaking{server.services_.loop.now() + server.services_.snapshot->timers.client_head,
                             nullptr};
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
  server.services_.counters.connections_open.add(-1);
  server.shared_.spread.closed(server.self_);
}

Task<void> Server::drain(Milliseconds drain_time) {
  net::EventLoop& loop = services_.loop;
  draining_since_ = loop.now();
  const MonotonicTime deadline = draining_since_ + drain_time;
  constexpr Milliseconds kLook{20};
  bool terminated = false;
  MonotonicTime cut_at = kNever;
  for (;;) {
    for (Connection* connection : connections_) connection->ask_to_finish();
    if (tasks_.running() == 0) break;
    const MonotonicTime now = loop.now();
    if (!terminated && now >= deadline) {
      terminated = true;
      cut_at = now + kLastWords;
      listening_.clear();
      for (Connection* connection : connections_) connection->terminate();
    }
    if (now >= cut_at) break;
    const net::Scope look{now + kLook, nullptr};
    static_cast<void>(co_await net::sleep(loop, look));
  }
  listening_.clear();
  drained_ = true;  // a connection that another loop handed over just now is closed
  co_await tasks_.joined();
}

}  // namespace qq::downstream
