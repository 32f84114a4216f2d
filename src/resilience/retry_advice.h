// When may a client come back, whom no target could serve now? The Retry-After of our own 429s and 503s:
//
//   min over the plan's targets of the time until nothing bars them; at least a second
//
// What a provider asked for is in it, since `TargetHealth::note_failure` has made a cool-down of it. Targets
// that are free (they failed, but may be tried again) or wait for a probe's answer count as barred for that
// second: a client that returns at once would only meet the same failure.
//
// Pure. The answer's head carries it as `retry-after` in whole seconds, rounded up, and as `retry-after-ms`.
#pragma once
#include <span>

#include "base/time.h"
#include "resilience/last_candidate.h"

namespace qq::resilience {

inline constexpr Milliseconds kLeastRetryAdvice{1'000};  // a guess: the smallest Retry-After that can be said

// `standings` of the plan's targets at `now`, in any order. Of no target at all: a second.
Milliseconds retry_advice(std::span<const Standing> standings, MonotonicTime now) noexcept;

}  // namespace qq::resilience
