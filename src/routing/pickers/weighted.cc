#include "routing/pickers/weighted.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace qq::routing::pickers {

void pick_weighted(std::span<const double> weights, std::span<std::uint32_t> order, Random& random) {
  QQ_ASSERT(weights.size() == order.size());
  std::vector<double> keys(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double draw = 1.0 - random.unit();  // never 0, whose logarithm is infinite
    keys[i] = weights[i] > 0 ? -std::log(draw) / weights[i] : std::numeric_limits<double>::infinity();
  }
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(keys[i], i); });
}

}  // namespace qq::routing::pickers
