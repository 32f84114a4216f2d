// One event loop with everything that lives on it, and its thread.
#pragma once
#include <atomic>
#include <memory>
#include <thread>

#include "downstream/server.h"
#include "net/epoll_loop.h"
#include "relay/loop_services.h"
#include "upstream/http_client.h"
#include "upstream/polling_client.h"
#include "upstream/request_authorizer.h"

namespace qq::app {

class Worker {
 public:
  Worker(relay::RequestObserver& observer, relay::ProcessState& process, downstream::Server::Shared& shared,
         std::shared_ptr<const relay::Snapshot> snapshot, std::shared_ptr<net::TlsClientContext> tls,
         relay::OutboundProxy proxy, relay::ResponseStore* responses, relay::HoldingStore* holdings);
  ~Worker();

  [[nodiscard]] net::EpollLoop& loop() noexcept { return loop_; }
  [[nodiscard]] downstream::Server& server() noexcept { return server_; }
  [[nodiscard]] relay::LoopCounters& counters() noexcept { return counters_; }

  void run_in_thread();
  // The stores that were given; one worker does it, before its thread runs.
  void sweep_stores();
  void publish(std::shared_ptr<const relay::Snapshot> snapshot);
  // Starts the drain; the thread ends when it is done. `join` afterwards.
  void begin_drain(Milliseconds drain_time);
  // After `begin_drain`: what still runs is cut now.
  void cut_drain_short();
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  void join();

 private:
  static Task<void> drain_then_stop(Worker& worker, Milliseconds drain_time);
  static Task<void> sample_lag(Worker& worker);

  net::EpollLoop loop_;
  relay::LoopCounters counters_;
  upstream::HttpUpstreamClient upstream_;
  upstream::RequestAuthorizer authorizer_;
  upstream::PollingClient polling_;
  relay::LoopServices services_;
  downstream::Server server_;
  net::Cancellation ending_;  // of the worker's own tasks
  TaskGroup tasks_;
  std::atomic<bool> ended_{true};  // no thread runs
  std::thread thread_;
};

}  // namespace qq::app
