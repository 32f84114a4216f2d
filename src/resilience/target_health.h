// May we try this target now? Breaker per target and cool-down per account or limit group, shared by all
// loops so that every one sees a change at once, and kept across configuration reloads by name.
//
// Thread-safe. The usual case (closed, not cooling down) reads two atomics; changes take a short mutex
// that is never held across a suspension.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/time.h"
#include "model/target.h"
#include "resilience/circuit_breaker.h"

namespace qq::resilience {

// Until when an account or limit group must be left alone (its Retry-After). A longer cool-down replaces a
// shorter one, never the reverse.
class CoolDown {
 public:
  void start(MonotonicTime until) noexcept;
  void clear() noexcept { until_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::optional<MonotonicTime> until(MonotonicTime now) const noexcept;  // if it is running

 private:
  std::atomic<MonotonicTime::rep> until_{0};
};

class TargetHealth {
 public:
  TargetHealth(const CircuitBreakerConfig& config, std::shared_ptr<CoolDown> cool_down,
               std::shared_ptr<CoolDown> account_dead);

  struct Admission {
    CircuitBreaker::Ticket ticket;
  };
  // Nothing while open, cooling down or dead; `available_at` then tells when to come back, if known.
  [[nodiscard]] std::optional<Admission> try_admit(MonotonicTime now);
  [[nodiscard]] std::optional<MonotonicTime> available_at(MonotonicTime now) const;
  void record(Admission admission, Evidence evidence, MonotonicTime now);

  CoolDown& cool_down() noexcept { return *cool_down_; }
  CoolDown& account_dead() noexcept { return *account_dead_; }
  [[nodiscard]] CircuitState state() const noexcept { return state_.load(std::memory_order_relaxed); }
  // How often the breaker opened since the start; for metrics.
  [[nodiscard]] std::uint64_t times_opened() const noexcept { return times_opened_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  CircuitBreaker breaker_;
  std::atomic<CircuitState> state_{CircuitState::Closed};
  std::atomic<int> recent_failures_{0};
  std::atomic<std::uint64_t> times_opened_{0};
  std::shared_ptr<CoolDown> cool_down_;
  std::shared_ptr<CoolDown> account_dead_;
};

// All healths by target name; survives reloads. Look-ups happen when a snapshot is built, not per request.
class HealthRegistry {
 public:
  explicit HealthRegistry(CircuitBreakerConfig config = {}) : config_(config) {}
  std::shared_ptr<TargetHealth> of(const model::Target& target);

 private:
  std::mutex mutex_;
  CircuitBreakerConfig config_;
  std::unordered_map<std::string, std::shared_ptr<TargetHealth>> healths_;
  std::unordered_map<std::string, std::shared_ptr<CoolDown>> cool_downs_;
};

// What an attempt's failure says about the target: evidence for the breaker, see the table in the .cc.
Evidence evidence_of(const Error& error) noexcept;
// How long the account cools down after this error (Retry-After capped to an hour, the default back-off
// when absent), or nothing. Dead credentials and exhausted quotas: five minutes.
std::optional<Milliseconds> cool_down_of(const Error& error) noexcept;

}  // namespace qq::resilience
