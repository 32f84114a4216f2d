#include "resilience/retry_budget.h"

#include <algorithm>

#include "base/assert.h"

namespace qq::resilience {

bool RetryBudget::has_place(std::int64_t requests_in_flight, MonotonicTime now) const {
  return share_has_place(requests_in_flight) || floor_at(now) >= 1.0;
}

bool RetryBudget::try_take(std::int64_t requests_in_flight, MonotonicTime now) {
  if (!share_has_place(requests_in_flight)) {
    const double left = floor_at(now);
    if (left < 1.0) return false;
    floor_left_ = left - 1.0;
    floor_time_ = now;
  }
  ++retries_in_flight_;
  return true;
}

void RetryBudget::retry_finished() {
  QQ_ASSERT(retries_in_flight_ > 0);
  --retries_in_flight_;
}

bool RetryBudget::share_has_place(std::int64_t requests_in_flight) const noexcept {
  return static_cast<double>(retries_in_flight_ + 1) <=
         config_.share * static_cast<double>(requests_in_flight);
}

double RetryBudget::floor_at(MonotonicTime now) const noexcept {
  const auto full = static_cast<double>(config_.floor);
  if (floor_left_ < 0) return full;
  const std::chrono::duration<double> passed = now - floor_time_;
  const std::chrono::duration<double> per = config_.floor_per;
  if (per.count() <= 0 || passed.count() < 0) return floor_left_;
  return std::min(full, floor_left_ + full * passed.count() / per.count());
}

}  // namespace qq::resilience
