#include "routing/pickers/order.h"

#include <vector>

namespace qq::routing::pickers {
namespace {

TEST(PickInOrder, KeepsTheOperatorsOrder) {
  std::vector<std::uint32_t> order(4, 99);
  pick_in_order(order);
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace qq::routing::pickers
