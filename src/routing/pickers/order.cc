#include "routing/pickers/order.h"

#include <numeric>

namespace qq::routing::pickers {

void pick_in_order(std::span<std::uint32_t> order) noexcept {
  std::iota(order.begin(), order.end(), 0U);
}

}  // namespace qq::routing::pickers
