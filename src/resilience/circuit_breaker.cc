#include "resilience/circuit_breaker.h"

#include <algorithm>

#include "base/assert.h"

namespace qq::resilience {

CircuitBreaker::CircuitBreaker(const CircuitBreakerConfig& config)
    : config_(config), open_for_(config.open_for) {
  QQ_ASSERT(config.failures_to_open >= 1);
  QQ_ASSERT(config.open_for.count() > 0);
  QQ_ASSERT(config.open_for_max >= config.open_for);
  QQ_ASSERT(config.trial.count() >= 0);
}

std::optional<CircuitBreaker::Ticket> CircuitBreaker::try_admit(MonotonicTime now) {
  if (would_refuse(now)) return std::nullopt;
  switch (state_) {
    case CircuitState::Closed: return Ticket{.period = period_, .probe = false};
    case CircuitState::Open:
      state_ = CircuitState::HalfOpen;
      ++period_;
      break;
    case CircuitState::HalfOpen:
      // A lost probe's answer, should it still come, counts no more.
      if (probe_running_) ++period_;
      break;
  }
  probe_running_ = true;
  probe_started_ = now;
  return Ticket{.period = period_, .probe = true};
}

bool CircuitBreaker::would_refuse(MonotonicTime now) const noexcept {
  switch (state_) {
    case CircuitState::Closed: return false;
    case CircuitState::Open: return now < open_until_;
    case CircuitState::HalfOpen: return probe_running_ && now - probe_started_ < config_.open_for_max;
  }
  return false;
}

CircuitBreaker::Ticket CircuitBreaker::force() {
  return Ticket{.period = period_, .probe = false};
}

void CircuitBreaker::record(Ticket ticket, Evidence evidence, MonotonicTime now) {
  if (ticket.period != period_) return;
  switch (evidence) {
    case Evidence::None:
      if (ticket.probe) probe_running_ = false;
      return;
    case Evidence::Success:
      if (state_ == CircuitState::Closed) {
        failures_in_a_row_ = 0;
      } else if (now - opened_at_ >= config_.trial) {
        close();
      } else {
        go_on_trial(ticket.probe);
      }
      return;
    case Evidence::Failure:
      if (state_ == CircuitState::Closed) {
        if (++failures_in_a_row_ >= config_.failures_to_open) open(now);
      } else if (ticket.probe) {
        open_for_ = std::min(open_for_ * 2, config_.open_for_max);
        open(now);
      }
      // A forced attempt's failure tells nothing new, and counting it would keep a busy target shut for ever.
      return;
  }
}

void CircuitBreaker::record_late_failure(Ticket ticket, MonotonicTime now) {
  record(ticket.period == period_ ? ticket : force(), Evidence::Failure, now);
}

std::optional<MonotonicTime> CircuitBreaker::open_until() const {
  if (state_ != CircuitState::Open) return std::nullopt;
  return open_until_;
}

void CircuitBreaker::open(MonotonicTime now) {
  state_ = CircuitState::Open;
  opened_at_ = now;
  open_until_ = now + open_for_;
  ++period_;
  failures_in_a_row_ = 0;
  probe_running_ = false;
}

void CircuitBreaker::close() {
  state_ = CircuitState::Closed;
  open_for_ = config_.open_for;
  ++period_;
  failures_in_a_row_ = 0;
  probe_running_ = false;
}

void CircuitBreaker::go_on_trial(bool was_probe) {
  if (state_ == CircuitState::Open) {  // a forced attempt's success
    state_ = CircuitState::HalfOpen;
    ++period_;
  }
  if (was_probe) probe_running_ = false;
}

}  // namespace qq::resilience
