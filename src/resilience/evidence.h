// What a failure says about its target: evidence for the breaker, and how long to leave the account alone.
// The whole table is at the top of the .cc. Pure.
#pragma once
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "resilience/circuit_breaker.h"

namespace qq::resilience {

// Whether an answer with nothing in it may be just what the caller asked for: a stop string that comes first,
// or a blank.
enum class AskedFor : bool { No, Perhaps };

// Evidence for the breaker. `None` for whatever is not the target's fault: the client's doing, throttles,
// dead credentials, our own refusals and limits.
Evidence evidence_of(const Error& error, AskedFor empty = AskedFor::No) noexcept;

// What a provider's Retry-After may do at most. A target must be found well again without anybody's help, so
// a rate limit is asked again after ten minutes whatever was said, and one that says it is overloaded after a
// breaker's longest open period: who is broken seldom knows for how long.
inline constexpr Milliseconds kCoolDownMax{600'000};
inline constexpr Milliseconds kOverloadMax = CircuitBreakerConfig{}.open_for_max;
inline constexpr Milliseconds kDeadAccount{300'000};  // dead credentials and exhausted quotas

// Whether the provider asks us to slow down: 429, 529, and "overloaded" said without a 5xx status.
bool is_throttle(const Error& error) noexcept;

// The error's Retry-After within these bounds: what is obeyed, and what is told to others and the log.
std::optional<Milliseconds> bounded_retry_after(const Error& error) noexcept;

// How long the account cools down after this error (its bounded Retry-After, the default back-off when
// absent), or nothing. Dead credentials and exhausted quotas: five minutes.
std::optional<Milliseconds> cool_down_of(const Error& error) noexcept;
// The same, with full jitter over the `throttles_before` throttles in a row where no Retry-After is given.
std::optional<Milliseconds> cool_down_of(const Error& error, int throttles_before, Random& random) noexcept;

}  // namespace qq::resilience
