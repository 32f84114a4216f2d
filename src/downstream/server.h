// The client side of one event loop: its connections, from accept to close, and their orderly end.
//
// Drain (SIGTERM): readiness turns 503; idle connections close; for `timers.drain_announce` new requests are
// still served, each with `connection: close`, so that a load balancer has time to look away; running ones
// finish within the drain time; what is left then gets an error event and is cut. Loops stay until the last
// of them is done: as long as anybody may connect, each may be handed the connection. When no loop runs a
// request any more, all stop listening, so that refusals and their lingering closes come to an end.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/task.h"
#include "downstream/accept_spread.h"
#include "downstream/listener_config.h"
#include "downstream/turned_away.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "relay/loop_services.h"

namespace qq::downstream {

class Connection;

// A listening address as the loops serve it. Immutable, shared by all loops.
struct Listening {
  ListenerConfig config;
  std::shared_ptr<net::TlsServerContext> tls;  // null: plain
};

class Server {
 public:
  struct Shared {  // by all loops; outlives them
    std::vector<Listening> listeners;
    AcceptSpread spread;
    std::size_t connections_per_loop_max = 0;  // of clients; 0: as many as descriptors allow
    std::atomic<std::size_t> operator_connections{0};
    std::function<std::string()> render_metrics;
    // When /readyz was asked last; MonotonicTime{}: never. Who asks will look away if told to.
    std::atomic<MonotonicTime> readiness_asked{};
  };

  Server(relay::LoopServices& services, Shared& shared);
  ~Server();

  // On the loop's thread. `first` of all loops opens the sockets, the others share them.
  Result<> listen(Server* first);
  // The addresses that were bound, with real ports; valid after `listen`.
  [[nodiscard]] std::vector<net::Address> local_addresses() const;

  // Finishes what runs, then returns: every connection is closed and every listener gone.
  Task<void> drain(Milliseconds drain_time);
  // Ends the drain time of a running drain now: what is left gets its error event and is cut.
  void cut_drain_short() noexcept { drain_until(services_.loop.now()); }

  [[nodiscard]] relay::LoopServices& services() noexcept { return services_; }
  [[nodiscard]] const Shared& shared() const noexcept { return shared_; }
  // Requests may start on this server now.
  [[nodiscard]] bool takes_requests() const noexcept;
  void note_readiness_asked() noexcept;
  // Cancelled when nobody is waited for any longer, not even for last words.
  [[nodiscard]] net::Cancellation& cut() noexcept { return cut_; }
  // A place among the few connections of the loop that are read on only so that their close is no reset.
  class Lingering {
   public:
    explicit Lingering(Server& server) noexcept : server_(server), granted_(server.lingering_ < kMost) {
      if (granted_) ++server_.lingering_;
    }
    ~Lingering() {
      if (granted_) --server_.lingering_;
    }
    Lingering(const Lingering&) = delete;
    Lingering& operator=(const Lingering&) = delete;
    [[nodiscard]] bool granted() const noexcept { return granted_; }

   private:
    // A guess: enough for honest clients, and what a thousand dishonest ones tie up is little.
    static constexpr std::size_t kMost = 64;
    Server& server_;
    bool granted_;
  };
  // Heads are large: one for all connections of the loop, valid between two suspensions.
  [[nodiscard]] wire::RequestHead& head_scratch() noexcept { return head_scratch_; }

 private:
  friend class Connection;
  void drain_until(MonotonicTime deadline) noexcept { drain_deadline_ = services_.requests_until = deadline; }
  void serve(net::AcceptedSocket socket, std::size_t listener);
  [[nodiscard]] bool is_full_for(const ListenerConfig& listener) const noexcept;
  void count_connection(const ListenerConfig& listener, int change) noexcept;
  [[nodiscard]] MonotonicTime announced_until() const noexcept;
  static Task<void> run_connection(Server& server, std::unique_ptr<net::Stream> stream, std::size_t listener);

  relay::LoopServices& services_;
  Shared& shared_;
  std::size_t self_;
  std::vector<std::unique_ptr<net::Listener>> listening_;
  std::unordered_set<Connection*> connections_;
  wire::RequestHead head_scratch_;
  MonotonicTime draining_since_{};
  MonotonicTime drain_deadline_ = kNever;
  bool drained_ = false;
  std::size_t lingering_ = 0;
  std::size_t client_connections_ = 0;
  TurnedAway turned_away_;
  net::Cancellation ending_;  // of TLS handshakes, at the end of the drain time
  net::Cancellation cut_;
  TaskGroup tasks_;
};

}  // namespace qq::downstream
