#include "resilience/retry_advice.h"

#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime kNow{1000s};

Milliseconds advice(std::vector<Standing> standings) {
  return retry_advice(standings, kNow);
}

TEST(RetryAdvice, IsTheWaitForTheFirstTargetThatComesBack) {
  EXPECT_EQ(advice({{Barrier::CoolDown, kNow + 20s},
                    {Barrier::Breaker, kNow + 7s},
                    {Barrier::DeadCredential, kNow + 5min}}),
            7s);
}

TEST(RetryAdvice, IsRoundedUpToAMillisecond) {
  EXPECT_EQ(advice({{Barrier::CoolDown, kNow + 2s + 1ns}}), 2001ms);
}

TEST(RetryAdvice, IsNeverLessThanASecond) {
  EXPECT_EQ(advice({{Barrier::CoolDown, kNow + 3ms}}), 1s);
  EXPECT_EQ(advice({{Barrier::Breaker, kNow - 3s}}), 1s) << "a probe is running";
  EXPECT_EQ(advice({{Barrier::CoolDown, kNow + 20s}, {}}), 1s) << "the second is free";
  EXPECT_EQ(advice({}), 1s);
}

}  // namespace
}  // namespace qq::resilience
