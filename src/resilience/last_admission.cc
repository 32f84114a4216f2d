#include "resilience/last_admission.h"

#include <vector>

namespace qq::resilience {

std::optional<LastAdmission> last_admission(std::span<TargetHealth* const> plan, MonotonicTime now) {
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Standing standing = plan[i]->standing(now);
    if (standing.barrier == Barrier::None) {
      if (const auto admission = plan[i]->try_admit(now)) return LastAdmission{i, *admission};
      // Taken by another loop in between: as it stands now.
      standings.push_back(plan[i]->standing(now));
    } else {
      standings.push_back(standing);
    }
  }
  const auto forced = last_candidate(standings);
  if (!forced) return std::nullopt;
  return LastAdmission{*forced, plan[*forced]->force_admit()};
}

}  // namespace qq::resilience
