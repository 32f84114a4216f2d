// The object graph of a running gateway: one thread, loop, upstream client and server a worker; one
// telemetry, one health registry and one published snapshot for all.
//
// Threading: all but `telemetry` belong to the owning (main) thread.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/memory_relief.h"
#include "base/result.h"
#include "config/config.h"
#include "config/expand.h"
#include "config/reload.h"
#include "downstream/server.h"
#include "net/address.h"
#include "relay/held/holding_store.h"
#include "relay/response_store.h"
#include "relay/snapshot.h"
#include "resilience/target_health.h"
#include "telemetry/telemetry.h"

namespace qq::app {

class Worker;

class Gateway {
 public:
  struct Options {
    telemetry::Options telemetry;
  };

  // Binds every listener and starts the workers. Errors: Config (what compile and TLS files say),
  // ConnectFailed for an address that cannot be bound.
  static Result<std::unique_ptr<Gateway>> start(config::Config config, Options options);
  ~Gateway();

  // With real ports, in the order of the configuration's listeners.
  [[nodiscard]] const std::vector<net::Address>& addresses() const noexcept { return addresses_; }
  [[nodiscard]] telemetry::Telemetry& telemetry() noexcept { return telemetry_; }

  // Reads the file again and, if it is good, swaps the configuration under running requests, which keep the
  // one they started with. What needs a restart stays as it was, and the result says so.
  config::ReloadResult reload(const std::string& path, const config::Environment& environment);

  // To be called a few times a second: reads the process's memory, gives back what is freed of it when that
  // is much, and sets the overload step.
  void watch_memory();

  // `timers.drain` of the configuration in use.
  [[nodiscard]] Milliseconds drain_time() const noexcept { return active_.config.timers.drain; }
  // Readiness turns 503, running requests finish within `drain_time`, the workers end; `join` them then.
  void begin_drain(Milliseconds drain_time);
  // What still runs is told so and cut now.
  void cut_drain_short();
  [[nodiscard]] bool workers_ended() const noexcept;
  void join();

 private:
  Gateway(config::Config config, Options options);
  Result<> build(int loops);
  [[nodiscard]] std::string render_metrics();

  config::Active active_;
  telemetry::Telemetry telemetry_;
  resilience::HealthRegistry healths_;
  relay::ProcessState process_;
  downstream::Server::Shared shared_;
  std::unique_ptr<relay::ResponseStore> responses_;  // outlives the workers that wait in it
  std::unique_ptr<relay::HoldingStore> holdings_;    // the same
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<net::Address> addresses_;
  std::mutex snapshot_mutex_;  // /metrics reads active_.snapshot from the loops' threads
  std::size_t memory_max_ = 0;
  MemoryRelief memory_relief_;
};

}  // namespace qq::app
