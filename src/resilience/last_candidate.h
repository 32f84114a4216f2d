// The last candidate: breakers never take a route's last target away. When no target of a plan may be tried
// and breakers are to blame, the one whose breaker re-opens first is tried anyway: a slim chance of an answer
// is better than a certain refusal.
//
// Cool-downs and dead credentials are no such verdict of ours. The provider has said when to come back, or
// that this key is no good; going there anyway would only be told the same again. Targets barred by them are
// never forced, and do not keep another from being forced.
//
// Pure. The attempt loop asks once every target of the plan was refused and none was tried:
//
//   std::vector<Standing> standings;                        // in the plan's order
//   for (target : plan.targets) standings.push_back(health(target).standing(now));
//   if (auto i = last_candidate(standings)) admission = health(plan.targets[*i]).force_admit();
//
// Source: Envoy's outlier detection keeps at least one host and its panic mode uses ejected ones when too few
// are left (envoyproxy.io, cluster/v3/outlier_detection.proto).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"

namespace qq::resilience {

// What keeps a target from being tried; the strongest when several do (in this order).
enum class Barrier : std::uint8_t { None, Breaker, CoolDown, DeadCredential };

struct Standing {
  Barrier barrier = Barrier::None;
  // When it ends. Of a breaker: when the open period ends, or ended if a probe is still running.
  MonotonicTime ends_at{};
};

// Whether this target may be tried against its breaker, if it is its plan's last hope.
constexpr bool may_force(const Standing& standing) noexcept {
  return standing.barrier == Barrier::Breaker;
}

// The index of the target to force, the earlier in the plan on a tie. Nothing if some target is free to be
// tried, or if none is barred by its breaker alone.
std::optional<std::size_t> last_candidate(std::span<const Standing> standings) noexcept;

}  // namespace qq::resilience
