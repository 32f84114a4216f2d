#include "resilience/last_admission.h"

#include <array>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

class LastAdmissionTest : public testing::Test {
 protected:
  static void open(TargetHealth& health, MonotonicTime now) {
    for (int i = 0; i < 5; ++i) {
      const auto admission = health.try_admit(now);
      ASSERT_TRUE(admission);
      health.record(*admission, Evidence::Failure, now);
    }
    ASSERT_EQ(health.state(), CircuitState::Open);
  }
  static TargetHealth healthy() {
    return {CircuitBreakerConfig{}, std::make_shared<CoolDown>(), std::make_shared<CoolDown>()};
  }

  MonotonicTime now_{1000s};
  TargetHealth first_ = healthy();
  TargetHealth second_ = healthy();
  std::array<TargetHealth*, 2> plan_{&first_, &second_};
};

TEST_F(LastAdmissionTest, IsOfTheTargetWhoseBreakerReopensFirst) {
  open(second_, now_);
  open(first_, now_ + 1s);
  const auto admitted = last_admission(plan_, now_ + 1s);
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->index, 1U);
}

// The loop was refused by both; before it looks again, another loop's probe of the second has succeeded.
TEST_F(LastAdmissionTest, IsOfATargetThatHasComeBackMeanwhile) {
  open(first_, now_);
  open(second_, now_);
  const MonotonicTime later = *second_.available_at(now_);
  const auto probe = second_.try_admit(later);
  ASSERT_TRUE(probe);
  ASSERT_FALSE(second_.try_admit(later));
  second_.record(*probe, Evidence::Success, later);
  const auto admitted = last_admission(plan_, later);
  ASSERT_TRUE(admitted) << "a target that is free must not leave the request without one";
}

TEST_F(LastAdmissionTest, OfAFreeTargetIsAnOrdinaryOne) {
  open(first_, now_);
  const auto admitted = last_admission(plan_, now_);
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->index, 1U);
  EXPECT_FALSE(admitted->admission.ticket.probe);
  second_.record(admitted->admission, Evidence::Success, now_);
  EXPECT_EQ(second_.state(), CircuitState::Closed);
}

TEST_F(LastAdmissionTest, IsNotOfTargetsThatAreCoolingDown) {
  first_.cool_down().start(now_ + 1s);
  second_.account_dead().start(now_ + 1s);
  EXPECT_FALSE(last_admission(plan_, now_));
}

}  // namespace
}  // namespace qq::resilience
