#include "resilience/backoff.h"

#include <limits>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, TheCeilingDoublesUpToItsMaximum) {
  struct Case {
    int n;
    Milliseconds ceiling;
  };
  for (const auto& [n, ceiling] :
       {Case{-1, 200ms}, Case{0, 200ms}, Case{1, 400ms}, Case{2, 800ms}, Case{3, 1600ms}, Case{4, 2000ms},
        Case{5, 2000ms}, Case{std::numeric_limits<int>::max(), 2000ms}}) {
    EXPECT_EQ(backoff_ceiling(200ms, 2000ms, n), ceiling) << "n = " << n;
  }
}

TEST(Backoff, TheLargestMaximumDoesNotOverflow) {
  EXPECT_EQ(backoff_ceiling(1ms, Milliseconds::max(), 1000), Milliseconds::max());
}

TEST(Backoff, ABaseAboveTheMaximumIsCut) {
  EXPECT_EQ(backoff_ceiling(5s, 2s, 0), 2s);
}

TEST(Backoff, NothingToWaitForIsNoWait) {
  Random random(1);
  EXPECT_EQ(full_jitter(0ms, 2s, 5, random), 0ms);
  EXPECT_EQ(full_jitter(200ms, 0ms, 5, random), 0ms);
  EXPECT_EQ(full_jitter(-1ms, 2s, 5, random), 0ms);
}

TEST(Backoff, JitterReachesBothEndsAndEveryTenthBetween) {
  Random random(7);
  std::array<int, 11> tenths{};
  for (int i = 0; i < 20'000; ++i) {
    const Milliseconds delay = full_jitter(25ms, 1s, 2, random);
    ASSERT_GE(delay, 0ms);
    ASSERT_LE(delay, 100ms);
    ++tenths[static_cast<std::size_t>(delay.count() / 10)];
  }
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(tenths[i], 20'000 * 10 / 101, 300) << "tenth " << i;
  EXPECT_GT(tenths[10], 100) << "the ceiling itself is possible";
}

TEST(Backoff, TheSameSeedDrawsTheSameDelays) {
  Random a(3);
  Random b(3);
  for (int n = 0; n < 10; ++n) EXPECT_EQ(full_jitter(200ms, 60s, n, a), full_jitter(200ms, 60s, n, b));
}

}  // namespace
}  // namespace qq::resilience
