#include "resilience/backoff.h"

#include <algorithm>

namespace qq::resilience {

Milliseconds backoff_ceiling(Milliseconds base, Milliseconds max, int n) noexcept {
  if (base.count() <= 0 || max.count() <= 0) return Milliseconds{0};
  // Doubling stops at `max`, so that no `n` overflows.
  Milliseconds ceiling = std::min(base, max);
  for (int i = 0; i < n && ceiling < max; ++i) ceiling = ceiling > max / 2 ? max : ceiling * 2;
  return ceiling;
}

Milliseconds full_jitter(Milliseconds base, Milliseconds max, int n, Random& random) noexcept {
  const Milliseconds ceiling = backoff_ceiling(base, max, n);
  return Milliseconds{
      static_cast<Milliseconds::rep>(random.below(static_cast<std::uint64_t>(ceiling.count()) + 1))};
}

}  // namespace qq::resilience
