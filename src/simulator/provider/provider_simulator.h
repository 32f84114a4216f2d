// The scriptable simulated provider: an HTTP/1.1 server that speaks the providers' dialects, plays
// recordings and misbehaves on demand. In process (tests, `queqiao demo`) or as `queqiao sim-provider`
// (run.h).
//
//   ProviderSimulator simulator(loop, {});
//   simulator.listen(address);  …  co_await simulator.shut_down();
//
// Pages of its own, on the same port: GET /sim/stats, /sim/requests, /sim/recordings, /sim/faults;
// POST /sim/reset, /sim/scenario (a scenario as the body), /sim/listener?open=true|false.
//
// Everything belongs to the loop's thread.
#pragma once
#include <memory>
#include <string_view>
#include <unordered_set>

#include "base/result.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "simulator/provider/held_objects.h"
#include "simulator/provider/library.h"
#include "simulator/provider/scenario.h"
#include "simulator/provider/statistics.h"

namespace qq::simulator {

class Connection;

struct SimulatorOptions {
  Library library{};
  Scenario scenario{};
  std::shared_ptr<net::TlsServerContext> tls{};  // null: plain HTTP
  bool strict = true;                            // refuses what the vendors refuse
  std::size_t requests_kept = 256;
  std::size_t request_body_kept = 16UL * 1024;         // bytes of each body in /sim/requests
  std::size_t request_body_max = 256UL * 1024 * 1024;  // larger ones get a 413
};

class ProviderSimulator {
 public:
  ProviderSimulator(net::EventLoop& loop, SimulatorOptions options);
  ProviderSimulator(const ProviderSimulator&) = delete;
  ProviderSimulator& operator=(const ProviderSimulator&) = delete;
  ~ProviderSimulator();  // shut down before

  Result<> listen(const net::Address& address);
  [[nodiscard]] net::Address local() const;  // after `listen`

  // A second port that can be closed and opened while the first stays: connections to it are refused
  // in between.
  Result<> listen_extra(const net::Address& address);
  [[nodiscard]] net::Address extra_local() const { return extra_address_; }
  Result<> open_extra();
  void close_extra() noexcept { extra_.reset(); }
  [[nodiscard]] bool has_extra() const noexcept { return extra_address_.size() > 0; }

  // Stops listening and cuts every connection; `shut_down` also waits for them.
  void stop() noexcept;
  Task<void> shut_down();

  void set_scenario(Scenario scenario) { scenario_ = std::move(scenario); }
  // Statistics and scenario start anew, and nothing is kept any more.
  void reset();

  // For connections.
  [[nodiscard]] net::EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] const Library& library() const noexcept { return options_.library; }
  [[nodiscard]] const SimulatorOptions& options() const noexcept { return options_; }
  [[nodiscard]] Scenario& scenario() noexcept { return scenario_; }
  [[nodiscard]] Statistics& statistics() noexcept { return statistics_; }
  [[nodiscard]] HeldObjects& held() noexcept { return held_; }

 private:
  void accept(net::AcceptedSocket socket);
  Task<void> serve(std::unique_ptr<net::Stream> stream);

  net::EventLoop& loop_;
  SimulatorOptions options_;
  Scenario scenario_;
  Statistics statistics_;
  HeldObjects held_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<net::Listener> extra_;
  net::Address extra_address_;
  std::unordered_set<Connection*> connections_;
  TaskGroup tasks_;
  bool stopping_ = false;
};

}  // namespace qq::simulator
