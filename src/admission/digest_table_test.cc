#include "admission/digest_table.h"

#include <vector>

#include "base/random.h"

namespace qq::admission {
namespace {

KeyDigest drawn(Random& random) {
  KeyDigest digest;
  for (std::byte& byte : digest) byte = static_cast<std::byte>(random.below(256));
  return digest;
}

TEST(DigestTable, FindsEachOfManyAndNobodyElse) {
  for (const std::size_t count : {1U, 2U, 3U, 17U, 1000U, 5000U}) {
    Random random(count);
    std::vector<KeyDigest> digests;
    for (std::size_t i = 0; i < count; ++i) digests.push_back(drawn(random));
    const DigestTable table(digests);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(table.find(digests[i]), i);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(table.find(drawn(random)), std::nullopt);
  }
}

TEST(DigestTable, AnEmptyOneFindsNothing) {
  EXPECT_EQ(DigestTable().find(KeyDigest{}), std::nullopt) << "not even what its empty slots hold";
  Random random(1);
  EXPECT_EQ(DigestTable().find(drawn(random)), std::nullopt);
}

TEST(DigestTable, ADigestOfZerosIsADigestLikeAnyOther) {
  EXPECT_EQ(DigestTable(std::vector<KeyDigest>{KeyDigest{}}).find(KeyDigest{}), 0U);
}

TEST(DigestTable, DigestsThatWantTheSameSlotAreAllFound) {
  Random random(2);
  std::vector<KeyDigest> digests(20);
  for (KeyDigest& digest : digests) {
    digest = drawn(random);
    std::fill_n(digest.begin(), 8, std::byte{0xFF});  // the last slot, so that the walk wraps around
  }
  const DigestTable table(digests);
  EXPECT_EQ(table.walk(), 20U);
  for (std::size_t i = 0; i < digests.size(); ++i) EXPECT_EQ(table.find(digests[i]), i);
}

TEST(DigestTable, ADigestThatAgreesWithAnotherButForItsEndIsAnother) {
  Random random(3);
  const KeyDigest digest = drawn(random);
  const DigestTable table(std::vector<KeyDigest>{digest});
  KeyDigest other = digest;
  other.back() ^= std::byte{1};
  EXPECT_EQ(table.find(other), std::nullopt);
}

TEST(DigestTable, TheWalkStaysShort) {
  Random random(4);
  std::vector<KeyDigest> digests;
  for (int i = 0; i < 100'000; ++i) digests.push_back(drawn(random));
  EXPECT_LE(DigestTable(digests).walk(), 24U);
}

}  // namespace
}  // namespace qq::admission
