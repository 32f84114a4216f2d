// May we try this target now? Breaker per target and cool-down per account or limit group, shared by all
// loops so that every one sees a change at once, and kept across configuration reloads by name.
//
//   what failed                        who is left alone                    until
//   429                                the limit group's targets            Retry-After, else full jitter
//   dead credential, exhausted quota   the account's targets                five minutes
//   529, 503 with Retry-After          this target                          Retry-After, else full jitter
//   (529) timeout, reset, 5xx, broken reply  this target, by its breaker          see circuit_breaker.h
//
// Thread-safe. The usual case (closed, not cooling down) reads a few atomics and takes no lock; changes take
// a short mutex that is never held across a suspension. The caller passes its loop's `now`; loops may differ
// by a little, the breaker sees the latest.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "model/target.h"
#include "resilience/circuit_breaker.h"
#include "resilience/evidence.h"
#include "resilience/last_candidate.h"

namespace qq::resilience {

// Until when an account or limit group must be left alone (its Retry-After). A longer cool-down replaces a
// shorter one, never the reverse.
class CoolDown {
 public:
  void start(MonotonicTime until) noexcept;
  void clear() noexcept { until_.store(kNotRunning, std::memory_order_relaxed); }
  [[nodiscard]] std::optional<MonotonicTime> until(MonotonicTime now) const noexcept;  // if it is running

  // Counts a throttle and returns how many came before it since the last success; they lengthen the default
  // back-off. While the cool-down runs it counts nothing: the requests that were in flight together are
  // refused together, and that is one event.
  int count_throttle(MonotonicTime now) noexcept;
  void forget_throttles() noexcept {
    if (throttles_in_a_row_.load(std::memory_order_relaxed) != 0) {
      throttles_in_a_row_.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr MonotonicTime::rep kNotRunning = std::numeric_limits<MonotonicTime::rep>::min();
  std::atomic<MonotonicTime::rep> until_{kNotRunning};
  std::atomic<int> throttles_in_a_row_{0};
};

class TargetHealth {
 public:
  TargetHealth(const CircuitBreakerConfig& config, std::shared_ptr<CoolDown> cool_down,
               std::shared_ptr<CoolDown> account_dead);

  struct Admission {
    CircuitBreaker::Ticket ticket;
  };
  // Nothing while open, cooling down or dead; `available_at` then tells when to come back, if known. The
  // caller owes exactly one `record` for each admission; it may pay as soon as the first content shows that
  // the target works, which frees a probe's place before a long stream ends.
  [[nodiscard]] std::optional<Admission> try_admit(MonotonicTime now);
  // Admits whatever the breaker says: for the target that `last_candidate` chose, and no other.
  [[nodiscard]] Admission force_admit();
  // The latest end of what bars this target now. Nothing if nothing does, or if only a running probe does.
  [[nodiscard]] std::optional<MonotonicTime> available_at(MonotonicTime now) const;
  // What bars this target now, for `last_candidate`.
  [[nodiscard]] Standing standing(MonotonicTime now) const;
  void record(Admission admission, Evidence evidence, MonotonicTime now);
  // That an attempt failed for which `record` was paid early, at its first content.
  void record_late_failure(Admission admission, MonotonicTime now);

  // Starts the cool-down that this failure asks for (table above), if any. `record` is owed all the same.
  void note_failure(const Error& error, MonotonicTime now, Random& random);

  CoolDown& cool_down() noexcept { return *cool_down_; }
  CoolDown& account_dead() noexcept { return *account_dead_; }
  [[nodiscard]] CircuitState state() const noexcept { return state_.load(std::memory_order_relaxed); }
  // How often the breaker opened since the start; for metrics.
  [[nodiscard]] std::uint64_t times_opened() const noexcept {
    return times_opened_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kNotClosed = std::numeric_limits<std::uint64_t>::max();

  // The later of `now` and any earlier one; the mutex is held.
  MonotonicTime never_decreasing(MonotonicTime now);
  // After a change of the breaker: lets the lock-free readers see it; the mutex is held.
  void publish();

  mutable std::mutex mutex_;
  CircuitBreaker breaker_;
  MonotonicTime latest_now_ = MonotonicTime::min();
  MonotonicTime last_open_until_{};
  // The breaker's period while it is closed; says in one read that an attempt may go, and with which ticket.
  std::atomic<std::uint64_t> closed_period_{0};
  std::atomic<CircuitState> state_{CircuitState::Closed};
  std::atomic<int> recent_failures_{0};
  std::atomic<std::uint64_t> times_opened_{0};
  CoolDown overload_;  // this target alone
  std::shared_ptr<CoolDown> cool_down_;
  std::shared_ptr<CoolDown> account_dead_;
};

// All healths by target name; survives reloads. Look-ups happen when a snapshot is built, not per request.
// A target that a reload moves to another limit group or address or gives another credential gets a new
// health: its breaker starts closed, and what requests on an older snapshot hear where they ask stays there.
class HealthRegistry {
 public:
  explicit HealthRegistry(CircuitBreakerConfig config = {}) : config_(config) {}
  std::shared_ptr<TargetHealth> of(const model::Target& target);

 private:
  struct Entry {
    std::string limit_group;
    std::string account;  // with a digest of its credential
    std::string paths;
    std::shared_ptr<TargetHealth> health;
  };
  std::shared_ptr<CoolDown> shared_cool_down(const std::string& key);
  void forget_unused_cool_downs();

  std::mutex mutex_;
  CircuitBreakerConfig config_;
  std::unordered_map<std::string, Entry> healths_;
  std::unordered_map<std::string, std::shared_ptr<CoolDown>> cool_downs_;
};

}  // namespace qq::resilience
