// The second look at a plan whose targets were all refused and of which none was tried: a target that has
// become free meanwhile, or else the last candidate (last_candidate.h), whatever its breaker says.
//
// Another loop's probe may succeed between a target's refusal and this look. Then its barrier is gone, and it
// is tried as any other.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "resilience/target_health.h"

namespace qq::resilience {

struct LastAdmission {
  std::size_t index = 0;  // in `plan`
  TargetHealth::Admission admission;
};

// Nothing if all are barred by more than their breakers. `plan`: in the plan's order. The caller owes a
// `record`.
std::optional<LastAdmission> last_admission(std::span<TargetHealth* const> plan, MonotonicTime now);

}  // namespace qq::resilience
