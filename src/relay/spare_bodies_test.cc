#include "relay/spare_bodies.h"

#include <set>
#include <vector>

namespace qq::relay {
namespace {

TEST(SpareBodies, HandsABufferOutAgainEmpty) {
  SpareBodies spares;
  std::string body = spares.take(1'500);
  body.assign(1'500, 'x');
  const char* const buffer = body.data();
  spares.give_back(std::move(body));
  const std::string again = spares.take(2'000);
  EXPECT_EQ(again.data(), buffer);
  EXPECT_TRUE(again.empty());
}

TEST(SpareBodies, NeverGivesASmallBodyALargeBuffer) {
  SpareBodies spares;
  spares.give_back(spares.take(60'000));
  EXPECT_LE(spares.take(1'000).capacity(), 2'048U);
  EXPECT_LE(spares.take(5'000).capacity(), 8'192U);
  EXPECT_GE(spares.take(60'000).capacity(), 60'000U);
}

TEST(SpareBodies, GivesAStrangersWordNoMoreThanItsLargestSize) {
  SpareBodies spares;
  EXPECT_EQ(spares.take(100'000'000).capacity(), 64U * 1'024);
}

TEST(SpareBodies, KeepsNoMoreThanSomeAndNoneOfOtherSizes) {
  SpareBodies spares;
  std::vector<std::string> bodies;
  for (int i = 0; i < 20; ++i) bodies.push_back(spares.take(4'000));
  std::set<const void*> kept;
  for (std::string& body : bodies) {
    kept.insert(body.data());
    spares.give_back(std::move(body));
  }
  std::string odd;
  odd.reserve(5'000);
  spares.give_back(std::move(odd));
  spares.give_back(std::string("short"));
  std::vector<std::string> taken;
  std::size_t again = 0;
  for (int i = 0; i < 16; ++i) {
    taken.push_back(spares.take(4'000));
    again += kept.count(taken.back().data());
  }
  EXPECT_EQ(again, 16U);
}

}  // namespace
}  // namespace qq::relay
