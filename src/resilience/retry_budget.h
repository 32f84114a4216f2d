// Retry budget: repeats on the *same* target may be at most a share of the requests in flight, with a small
// floor that refills in time, so that retries cannot multiply an outage. Source: Finagle's RetryBudget
// (2016) and Envoy's retry_budget (20 %, minimum 3).
//
// One per loop; not thread-safe.
#pragma once
#include <cstdint>

#include "base/time.h"

namespace qq::resilience {

struct RetryBudgetConfig {
  double share = 0.2;           // of requests in flight
  int floor = 3;                // retries always allowed ...
  Milliseconds floor_per{10'000};  // ... per this time
};

class RetryBudget {
 public:
  explicit RetryBudget(const RetryBudgetConfig& config = {}) : config_(config) {}
  // Takes one retry if the budget has it; `retry_finished` gives its place back.
  [[nodiscard]] bool try_take(std::int64_t requests_in_flight, MonotonicTime now);
  void retry_finished() { --retries_in_flight_; }
  [[nodiscard]] std::uint64_t overflows() const noexcept { return overflows_; }

 private:
  RetryBudgetConfig config_;
  std::int64_t retries_in_flight_ = 0;
  double floor_left_ = -1;
  MonotonicTime floor_at_{};
  std::uint64_t overflows_ = 0;
};

}  // namespace qq::resilience
