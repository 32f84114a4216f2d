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
  double share = 0.2;              // of requests in flight
  int floor = 3;                   // retries always allowed ...
  Milliseconds floor_per{10'000};  // ... per this time
};

class RetryBudget {
 public:
  explicit RetryBudget(const RetryBudgetConfig& config = {}) : config_(config) {}
  // Whether `try_take` would succeed; takes nothing. For `Situation::retry_allowed`.
  [[nodiscard]] bool has_place(std::int64_t requests_in_flight, MonotonicTime now) const;
  // Takes one retry if the budget has it; `retry_finished` gives its place back when the retry has ended,
  // well or badly. The share is used first, the floor only beyond it.
  [[nodiscard]] bool try_take(std::int64_t requests_in_flight, MonotonicTime now);
  void retry_finished();

 private:
  [[nodiscard]] bool share_has_place(std::int64_t requests_in_flight) const noexcept;
  [[nodiscard]] double floor_at(MonotonicTime now) const noexcept;

  RetryBudgetConfig config_;
  std::int64_t retries_in_flight_ = 0;
  double floor_left_ = -1;  // as of `floor_time_`; negative until it is first used, then it starts full
  MonotonicTime floor_time_{};
};

}  // namespace qq::resilience
