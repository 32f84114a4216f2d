// Counters and gauges of one loop: written by its thread alone, read by any (for /metrics).
#pragma once
#include <atomic>
#include <cstdint>

namespace qq::relay {

class Counter {
 public:
  void add(std::int64_t n = 1) noexcept {
    // One writer: a load and a store are enough and cost no locked instruction.
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::int64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct LoopCounters {
  Counter connections_accepted;
  Counter connections_open;        // gauge
  Counter connections_refused;     // saturation: descriptors, memory, connections_max
  Counter requests_in_flight;      // gauge
  Counter bodies_in_flight_bytes;  // gauge
  Counter bytes_from_clients;
  Counter bytes_to_clients;
  Counter bytes_from_upstreams;
  Counter bytes_to_upstreams;
  Counter upstream_connections_open;  // gauge
  Counter upstream_connections_idle;  // gauge
  Counter upstream_connects;
  Counter upstream_reuses;
  Counter upstream_resends;  // silent ones, of requests that met a stale connection
  Counter upstream_tls_handshakes;
  Counter upstream_tls_resumed;
  Counter retry_budget_overflows;
  Counter responses_not_kept;  // answers that the store could not take
  Counter worst_batch_ns;      // gauge: event-loop lag, longest batch of the last second
};

}  // namespace qq::relay
