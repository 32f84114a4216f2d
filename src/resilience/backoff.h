// How long to wait before a repeat: full jitter, so that those who failed together do not come back together.
//
//   delay = uniform in [0, min(max, base * 2^n)]
//
// Pure. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 ("Full Jitter").
#pragma once
#include "base/random.h"
#include "base/time.h"

namespace qq::resilience {

// 429s back off further than other failures, since the provider has asked for it.
inline constexpr Milliseconds kThrottleBackoffBase{500};
inline constexpr Milliseconds kThrottleBackoffMax{60'000};

// min(max, base * 2^n), however large `n` is; negative numbers count as 0.
Milliseconds backoff_ceiling(Milliseconds base, Milliseconds max, int n) noexcept;

// `n`: how often it was already repeated, 0 for the first wait. Both ends are possible.
Milliseconds full_jitter(Milliseconds base, Milliseconds max, int n, Random& random) noexcept;

}  // namespace qq::resilience
