#include "app/memory_relief.h"

#include <gtest/gtest.h>

namespace qq::app {
namespace {

constexpr MonotonicTime kStart{std::chrono::hours{1}};

TEST(MemorySteps, GoByTheShareOfTheLimit) {
  EXPECT_EQ(memory_step(0, 1000), 0);
  EXPECT_EQ(memory_step(799, 1000), 0);
  EXPECT_EQ(memory_step(800, 1000), 1);
  EXPECT_EQ(memory_step(900, 1000), 2);
  EXPECT_EQ(memory_step(949, 1000), 2);
  EXPECT_EQ(memory_step(5000, 1000), 3);
}

TEST(MemoryRelief, IsNeededBeforeAnythingIsShed) {
  const MemoryRelief relief;
  EXPECT_FALSE(relief.is_due(kStart, 699, 1000));
  EXPECT_TRUE(relief.is_due(kStart, 700, 1000));
  for (std::size_t used = 0; used <= 1000; ++used) {
    if (memory_step(used, 1000) > 0) EXPECT_TRUE(relief.is_due(kStart, used, 1000)) << used;
  }
}

TEST(MemoryRelief, ComesAgainSoonWhileItFreesSomething) {
  MemoryRelief relief;
  relief.given_back(kStart, 1000, 960);
  EXPECT_FALSE(relief.is_due(kStart, 960, 1000));
  EXPECT_TRUE(relief.is_due(kStart + MemoryRelief::kWaitMin, 960, 1000));
}

TEST(MemoryRelief, ComesLessOftenWhileItFreesNothing) {
  MemoryRelief relief;
  MonotonicTime now = kStart;
  Milliseconds waited{0};
  for (int i = 0; i < 10; ++i) {
    relief.given_back(now, 1000, 1000);
    const MonotonicTime from = now;
    while (!relief.is_due(now, 1000, 1000)) now += MemoryRelief::kWaitMin;
    const auto wait = std::chrono::duration_cast<Milliseconds>(now - from);
    EXPECT_GE(wait, waited);
    waited = wait;
  }
  EXPECT_EQ(waited, MemoryRelief::kWaitMax) << "nobody is refused for longer by memory that has been freed";
  relief.given_back(now, 1000, 500);
  EXPECT_TRUE(relief.is_due(now + MemoryRelief::kWaitMin, 1000, 1000)) << "the next is taken as a new case";
}

}  // namespace
}  // namespace qq::app
