#include "resilience/retry_budget.h"

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

class RetryBudgetTest : public testing::Test {
 protected:
  int take_all(std::int64_t in_flight) {
    int taken = 0;
    while (taken < 1000 && budget_.try_take(in_flight, now_)) ++taken;
    return taken;
  }

  MonotonicTime now_{1000s};
  RetryBudget budget_;
};

TEST_F(RetryBudgetTest, AShareOfTheRequestsInFlightMayRetryBeyondThatTheFloor) {
  EXPECT_EQ(take_all(100), 20 + 3);
}

TEST_F(RetryBudgetTest, TheFloorServesWhenHardlyAnythingIsInFlight) {
  EXPECT_EQ(take_all(1), 3);
  EXPECT_FALSE(budget_.try_take(1, now_));
}

TEST_F(RetryBudgetTest, AFinishedRetryGivesItsPlaceOfTheShareBack) {
  EXPECT_EQ(take_all(100), 23);
  budget_.retry_finished();
  EXPECT_FALSE(budget_.try_take(100, now_)) << "22 are still running";
  for (int i = 0; i < 3; ++i) budget_.retry_finished();
  EXPECT_TRUE(budget_.try_take(100, now_));
  EXPECT_FALSE(budget_.try_take(100, now_));
}

TEST_F(RetryBudgetTest, TheFloorRefillsInTimeAndNoFurtherThanFull) {
  EXPECT_EQ(take_all(0), 3);
  now_ += 3'400ms;
  EXPECT_EQ(take_all(0), 1);
  now_ += 10s;
  EXPECT_EQ(take_all(0), 3);
  now_ += 1h;
  EXPECT_EQ(take_all(0), 3);
}

TEST_F(RetryBudgetTest, FinishingAFloorRetryDoesNotRefillTheFloor) {
  EXPECT_EQ(take_all(0), 3);
  for (int i = 0; i < 3; ++i) budget_.retry_finished();
  EXPECT_FALSE(budget_.try_take(0, now_));
}

TEST_F(RetryBudgetTest, HasPlaceForetellsTryTakeAndTakesNothing) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget_.has_place(0, now_));
  EXPECT_EQ(take_all(0), 3);
  EXPECT_FALSE(budget_.has_place(0, now_));
  EXPECT_TRUE(budget_.has_place(100, now_));
}

TEST_F(RetryBudgetTest, AnOutageOfEverythingIsNotMultiplied) {
  // 50 requests a second for a minute, each lives a second, every one fails and asks for a retry that lives a
  // second too: at most 20 % of those in flight, plus the floor.
  int retries = 0;
  std::vector<int> ends(62, 0);
  for (int second = 0; second < 60; ++second) {
    for (int i = 0; i < ends[static_cast<std::size_t>(second)]; ++i) budget_.retry_finished();
    for (int request = 0; request < 50; ++request) {
      if (budget_.try_take(50, now_)) {
        ++retries;
        ++ends[static_cast<std::size_t>(second) + 1];
      }
    }
    now_ += 1s;
  }
  EXPECT_GE(retries, 60 * 10);
  EXPECT_LE(retries, 60 * 10 + 3 + 60 * 3 / 10);
}

TEST(RetryBudgetDeath, GivingBackWhatWasNotTakenIsABrokenInvariant) {
  RetryBudget budget;
  EXPECT_DEATH(budget.retry_finished(), "retries_in_flight_");
}

}  // namespace
}  // namespace qq::resilience
