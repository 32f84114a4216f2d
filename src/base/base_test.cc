#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "base/utf8_cut.h"

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

TEST(CutUtf8, SplitsNoCharacter) {
  EXPECT_EQ(cut_utf8("river", 5), "river");
  EXPECT_EQ(cut_utf8("river", 2), "ri");
  EXPECT_EQ(cut_utf8("", 0), "");
  const std::string_view text = "a\xc3\xa9\xe6\xb2\xb3\xf0\x9f\x8c\x89";  // 1, 2, 3 and 4 bytes
  for (const auto [most, kept] :
       {std::pair{1, 1}, {2, 1}, {3, 3}, {4, 3}, {5, 3}, {6, 6}, {7, 6}, {9, 6}, {10, 10}})
    EXPECT_EQ(cut_utf8(text, static_cast<std::size_t>(most)).size(), static_cast<std::size_t>(kept)) << most;
  EXPECT_EQ(cut_utf8(std::string(9, '\x80'), 8).size(), 5U) << "no UTF-8";
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
