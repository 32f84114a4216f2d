#include "resilience/last_candidate.h"

namespace qq::resilience {

std::optional<std::size_t> last_candidate(std::span<const Standing> standings) noexcept {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].barrier == Barrier::None) return std::nullopt;
    if (!may_force(standings[i])) continue;
    if (!first || standings[i].ends_at < standings[*first].ends_at) first = i;
  }
  return first;
}

}  // namespace qq::resilience
