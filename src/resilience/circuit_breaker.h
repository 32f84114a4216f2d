// Circuit breaker for one target: stop sending where attempts keep failing, then learn cheaply whether
// the target has recovered.
//
//   Closed --failures_to_open in a row--> Open --open_for passed--> HalfOpen --probe ok--> Closed
//                                           ^--probe failed; open_for doubles--'
//
// A good probe closes it no sooner than `trial` after it opened; until then it stays half-open, on trial, and
// the next probe goes at once. So a target that comes and goes does not make the breaker flap: two openings
// of a closed breaker are at least `trial` apart, whatever the target does.
//
// A pure state machine: no I/O, no lock, no clock. The caller passes `now` (never decreasing) and
// serialises calls (TargetHealth does); the same calls always give the same answers.
//
// Source: M. Nygard, "Release It!", 2nd ed., 2018, "Circuit Breaker". Ours differs in four ways: the trial;
// an abandoned attempt (the client hung up) is no evidence about the target, for or against it; a forced
// attempt (last_candidate.h) that succeeds counts as a probe, one that fails changes nothing; and a probe
// that says nothing for `open_for_max` is taken for lost, so that no target stays away for ever.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace qq::resilience {

struct CircuitBreakerConfig {
  int failures_to_open = 5;                         // in a row; >= 1
  std::chrono::milliseconds open_for{15'000};       // first open period; > 0
  std::chrono::milliseconds open_for_max{120'000};  // the doubling stops here; >= open_for
  std::chrono::milliseconds trial{30'000};          // from opening to closing at least; >= 0
};

enum class CircuitState : std::uint8_t { Closed, Open, HalfOpen };
enum class Evidence : std::uint8_t { Success, Failure, None };

class CircuitBreaker {
 public:
  // The period an attempt was admitted in, so that a late answer is not taken for a probe's.
  struct Ticket {
    std::uint64_t period = 0;
    bool probe = false;
  };
  explicit CircuitBreaker(const CircuitBreakerConfig& config);

  // A ticket if an attempt may start at `now`; the caller then owes exactly one `record`. Half-open
  // admits one probe at a time. Nothing if the attempt must go elsewhere.
  [[nodiscard]] std::optional<Ticket> try_admit(MonotonicTime now);
  // A ticket whatever the state, for the last candidate of a plan; the same debt of one `record`.
  [[nodiscard]] Ticket force();

  // `Failure` means that the target failed: timeout, reset, 5xx. A 4xx is the caller's own doing, a 429
  // belongs to the cool-down. `None` frees a probe's place and says nothing. Tickets of an earlier period
  // are ignored.
  void record(Ticket ticket, Evidence evidence, MonotonicTime now);
  // That an attempt failed after all which was recorded as a success at its first content. On trial it ends
  // the trial; a closed breaker counts it; an open one knows already.
  void record_late_failure(Ticket ticket, MonotonicTime now);

  [[nodiscard]] CircuitState state() const noexcept { return state_; }
  // Whether `try_admit` would give nothing; changes nothing.
  [[nodiscard]] bool would_refuse(MonotonicTime now) const noexcept;
  // Of tickets issued now. It changes whenever the state does, and when a lost probe is replaced.
  [[nodiscard]] std::uint64_t period() const noexcept { return period_; }
  // Failures since the last success; 0 unless closed.
  [[nodiscard]] int failures_in_a_row() const noexcept { return failures_in_a_row_; }
  // While open, when the first probe may go; feeds Retry-After. Nothing in the other states.
  [[nodiscard]] std::optional<MonotonicTime> open_until() const;

 private:
  void open(MonotonicTime now);
  void close();
  void go_on_trial(bool was_probe);

  CircuitBreakerConfig config_;
  std::chrono::milliseconds open_for_;
  CircuitState state_ = CircuitState::Closed;
  MonotonicTime opened_at_{};
  MonotonicTime open_until_{};
  std::uint64_t period_ = 0;
  int failures_in_a_row_ = 0;
  bool probe_running_ = false;
  MonotonicTime probe_started_{};
};

}  // namespace qq::resilience
