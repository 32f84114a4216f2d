// After a failed attempt: what now? The one place that decides retries and fallback; relay/attempts is the
// one loop that obeys. Pure: facts in, decision out.
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "base/random.h"
#include "base/time.h"
#include "model/attempt.h"
#include "model/plan.h"

namespace qq::resilience {

// Try the same target again after `delay` (full jitter). Costs a place in the retry budget.
struct SameTarget {
  Milliseconds delay;
};
// Go on to the next target of the plan that may be tried (another account counts as one).
struct NextTarget {};
// Tell the client; retry_advice.h says when it may come back.
struct Stop {
  bool for_budget = false;  // it would be SameTarget, had the retry budget a place
};
using NextStep = std::variant<SameTarget, NextTarget, Stop>;

struct Situation {
  bool more_targets = false;   // an untried target is left in the plan
  bool retry_allowed = false;  // the retry budget has a place
  bool client_gone = false;
  MonotonicTime now{};
  MonotonicTime deadline = kNever;  // of the request
  // Of the last attempt's target, after its failure was noted: TargetHealth::available_at. A repeat there
  // waits at least that long. Nothing: it is free now.
  std::optional<MonotonicTime> available_at{};
};

// Rules, first match wins:
//  1. content was delivered, or the client is gone, or the deadline passed: Stop.
//  2. attempts that reached a provider >= max_attempts: Stop (refusals and not-sent failures don't count).
//  3. the failure is not among the plan's triggers: Stop.
//  4. another target is left: NextTarget at once (429: other account or target first).
//  5. the failure is worth repeating here (not-sent, reset before the reply, 5xx, 503/529, or a 429 whose
//     Retry-After is short), the budget allows and the delay fits before the deadline: SameTarget.
//  6. Stop.
// An attempt that was refused before it was sent has no failure to judge: after rule 2 it goes to rule 4.
//
// In rule 5, "short" is at most the route's longest back-off: who waits longer holds a client for nothing.
// TLS failures repeat nowhere, since a certificate does not change. A request whose reply never began may
// have been executed, so that is repeated once only. One target is tried max_attempts times at most, also by
// attempts that never reached it.
NextStep next_step(const model::Plan& plan, std::span<const model::Attempt> attempts,
                   const Situation& situation, Random& random);

// Whether a route's triggers cover this failure.
bool triggers_cover(const model::Triggers& triggers, const Error& error) noexcept;

}  // namespace qq::resilience
