// What a failure says about its target: evidence for the breaker, and how long to leave the account alone.
// The whole table is at the top of the .cc. Pure.
#pragma once
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "resilience/circuit_breaker.h"

namespace qq::resilience {

// Evidence for the breaker. `None` for whatever is not the target's fault: the client's doing, throttles,
// dead credentials, our own refusals and limits.
Evidence evidence_of(const Error& error) noexcept;

inline constexpr Milliseconds kCoolDownMax{3'600'000};  // a Retry-After beyond an hour is cut to it
inline constexpr Milliseconds kDeadAccount{300'000};    // dead credentials and exhausted quotas

// Whether the provider asks us to slow down: 429, 529, and "overloaded" said without a 5xx status.
bool is_throttle(const Error& error) noexcept;

// How long the account cools down after this error (Retry-After capped to an hour, the default back-off
// when absent), or nothing. Dead credentials and exhausted quotas: five minutes.
std::optional<Milliseconds> cool_down_of(const Error& error) noexcept;
// The same, with full jitter over the `throttles_before` throttles in a row where no Retry-After is given.
std::optional<Milliseconds> cool_down_of(const Error& error, int throttles_before, Random& random) noexcept;

}  // namespace qq::resilience
