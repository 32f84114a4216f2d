#include "config/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace qq::config {
namespace {

constexpr std::array<std::string_view, 5> kKnown{"timers", "limits", "listeners", "key_pepper", "rpm"};

TEST(Suggest, DistanceCountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("abc", "ab"), 1U);
  EXPECT_EQ(edit_distance("abc", "xbc"), 1U);
  EXPECT_EQ(edit_distance("abc", "acb"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no part is edited twice";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Suggest, DistanceIsSymmetric) {
  for (const std::string_view a : kKnown) {
    for (const std::string_view b : kKnown)
      EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << " " << b;
  }
}

TEST(Suggest, FindsTheNearestWord) {
  EXPECT_EQ(nearest("timer", kKnown), "timers");
  EXPECT_EQ(nearest("limit", kKnown), "limits");
  EXPECT_EQ(nearest("listners", kKnown), "listeners");
  EXPECT_EQ(nearest("rmp", kKnown), "rpm");
}

TEST(Suggest, ForgivesCaseAndDashes) {
  EXPECT_EQ(nearest("Timers", kKnown), "timers");
  EXPECT_EQ(nearest("key-pepper", kKnown), "key_pepper");
  EXPECT_EQ(nearest("KEY PEPPER", kKnown), "key_pepper");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("banana", kKnown), std::nullopt);
  EXPECT_EQ(nearest("", kKnown), std::nullopt);
  EXPECT_EQ(nearest("xyz", kKnown), std::nullopt);
}

TEST(Suggest, VeryLongWordsAreFarFromEverything) {
  EXPECT_EQ(nearest(std::string(100'000, 'a'), kKnown), std::nullopt);
  EXPECT_EQ(edit_distance(std::string(65, 'a'), std::string(65, 'a')), 64U);
}

}  // namespace
}  // namespace qq::config
