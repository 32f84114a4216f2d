#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"

namespace qq {
namespace {

Task<int> answer() {
  co_return 42;
}
Task<int> add_one(Task<int> inner) {
  co_return co_await std::move(inner) + 1;
}
Task<void> store(Task<int> inner, int* out) {
  *out = co_await std::move(inner);
}

TEST(Task, RunsWhenAwaitedAndReturnsItsValue) {
  int value = 0;
  TaskGroup group;
  group.spawn(store(add_one(answer()), &value));
  EXPECT_EQ(value, 43);
  EXPECT_EQ(group.running(), 0U);
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Error::client(ErrorKind::InvalidRequest, "odd", "n"));
  return n / 2;
}
Result<int> quarter(int n) {
  QQ_TRY(const int h, half(n));
  return half(h);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().param, "n");
}

TEST(RequestId, SortsByTimeAndIsUniqueWithinAMillisecond) {
  Random random(1);
  const WallTime t{std::chrono::milliseconds(1'700'000'000'000)};
  const auto a = RequestId::make(t, random);
  const auto b = RequestId::make(t, random);
  const auto later = RequestId::make(t + std::chrono::milliseconds(1), random);
  EXPECT_NE(a.text(), b.text());
  EXPECT_LT(a.text(), later.text());
  EXPECT_EQ(a.text().substr(0, 10), "01HF7YAT00");
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
  Random random(7);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) ++seen[random.below(5)];
  for (const int count : seen) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace qq
