#include "resilience/retry_advice.h"

#include <algorithm>

namespace qq::resilience {

Milliseconds retry_advice(std::span<const Standing> standings, MonotonicTime now) noexcept {
  MonotonicTime first = kNever;
  for (const Standing& standing : standings) {
    first = std::min(first, standing.barrier == Barrier::None ? now : standing.ends_at);
  }
  if (standings.empty() || first <= now) return kLeastRetryAdvice;
  return std::max(kLeastRetryAdvice, std::chrono::ceil<Milliseconds>(first - now));
}

}  // namespace qq::resilience
