#include "routing/pickers/weighted.h"

#include <limits>
#include <map>
#include <vector>

namespace qq::routing::pickers {
namespace {

std::vector<std::uint32_t> pick(const std::vector<double>& weights, Random& random) {
  std::vector<std::uint32_t> order(weights.size(), 99);
  pick_weighted(weights, order, random);
  return order;
}

TEST(PickWeighted, TheFirstPlaceIsSharedInProportionToWeight) {
  Random random(1);
  std::array<int, 3> first{};
  for (int i = 0; i < 30'000; ++i) ++first[pick({0.5, 0.3, 0.2}, random).front()];
  // Four standard deviations of a binomial with n = 30,000.
  EXPECT_NEAR(first[0], 15'000, 350);
  EXPECT_NEAR(first[1], 9'000, 320);
  EXPECT_NEAR(first[2], 6'000, 280);
}

TEST(PickWeighted, LaterPlacesAreSharedAmongThoseThatAreLeft) {
  Random random(2);
  std::map<std::vector<std::uint32_t>, int> orders;
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) ++orders[pick({3, 2, 1}, random)];
  EXPECT_EQ(orders.size(), 6U);
  const auto expected = [](double first, double second, double rest) {
    return kDraws * first / 6.0 * second / (second + rest);
  };
  EXPECT_NEAR((orders[{0, 1, 2}]), expected(3, 2, 1), 480);
  EXPECT_NEAR((orders[{0, 2, 1}]), expected(3, 1, 2), 400);
  EXPECT_NEAR((orders[{1, 0, 2}]), expected(2, 3, 1), 430);
  EXPECT_NEAR((orders[{2, 1, 0}]), expected(1, 2, 3), 250);
}

TEST(PickWeighted, OnlyTheRatioOfWeightsMatters) {
  Random a(3);
  Random b(3);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pick({5, 3, 2}, a), pick({5e-9, 3e-9, 2e-9}, b));
}

TEST(PickWeighted, TheSameDrawGivesTheSameOrder) {
  Random a(4);
  Random b(4);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pick({1, 1, 1, 1}, a), pick({1, 1, 1, 1}, b));
}

TEST(PickWeighted, WeightsNotAboveZeroGoLastInTheOrderWritten) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto order = pick({0, -1, 1, std::numeric_limits<double>::quiet_NaN(), 1}, random);
    EXPECT_THAT(order,
                testing::AnyOf(testing::ElementsAre(2, 4, 0, 1, 3), testing::ElementsAre(4, 2, 0, 1, 3)));
  }
}

TEST(PickWeighted, DrawsOnceAWeightSoThatAReplayStaysInStep) {
  Random picked(6);
  Random drawn(6);
  std::ignore = pick({1, 0, 2}, picked);
  for (int i = 0; i < 3; ++i) std::ignore = drawn();
  EXPECT_EQ(picked(), drawn());
}

}  // namespace
}  // namespace qq::routing::pickers
