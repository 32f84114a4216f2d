#include "admission/key_hash.h"

#include <string>
#include <thread>
#include <vector>

namespace qq::admission {
namespace {

std::string repeated(unsigned char byte, std::size_t count) {
  return std::string(count, static_cast<char>(byte));
}
KeyHasher hasher(std::string pepper) {
  return KeyHasher::make(Secret(std::move(pepper))).value();
}

TEST(KeyHasher, AgreesWithTheVectorsOfRfc4231) {
  struct Case {
    std::string pepper;
    std::string key;
    std::string_view digest;
  };
  const std::vector<Case> cases{
      {repeated(0x0b, 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {repeated(0xaa, 20), repeated(0xdd, 50),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {repeated(0xaa, 131), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {repeated(0xaa, 131),
       "This is a test using a larger than block-size key and a larger than block-size data. The key needs "
       "to be "
       "hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const Case& c : cases) {
    const KeyHasher own = hasher(c.pepper);
    // Twice: the second time the thread's context is reused.
    EXPECT_EQ(to_text(own.digest(c.key)), "hmac-sha256:" + std::string(c.digest));
    EXPECT_EQ(to_text(own.digest(c.key)), "hmac-sha256:" + std::string(c.digest));
  }
}

TEST(KeyHasher, HashersThatTakeTurnsOnOneThreadDoNotMixTheirPeppers) {
  const KeyHasher a = hasher("pepper-pepper-aaaa");
  const KeyHasher b = hasher("pepper-pepper-bbbb");
  const KeyDigest by_a = a.digest("key");
  const KeyDigest by_b = b.digest("key");
  EXPECT_NE(by_a, by_b);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(a.digest("key"), by_a);
    EXPECT_EQ(b.digest("key"), by_b);
  }
}

TEST(KeyHasher, ANewHasherInTheOldOnesPlaceUsesItsOwnPepper) {
  std::vector<KeyDigest> digests;
  for (const char* pepper : {"pepper-pepper-aaaa", "pepper-pepper-bbbb"}) {
    const auto own = std::make_unique<KeyHasher>(hasher(pepper));
    digests.push_back(own->digest("key"));
  }
  EXPECT_NE(digests[0], digests[1]);
}

TEST(KeyHasher, ThreadsShareOneHasher) {
  const KeyHasher own = hasher("pepper-pepper-aaaa");
  const KeyDigest expected = own.digest("key");
  std::vector<std::thread> threads;
  std::array<int, 3> wrong{};
  for (int& mine : wrong) {
    threads.emplace_back([&own, &expected, &mine] {
      for (int i = 0; i < 2000; ++i) mine += own.digest("key") == expected ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(KeyHasher, AnEmptyOrShortPepperIsRefusedWithoutBeingRepeated) {
  for (const std::string pepper : {"", "fifteen-bytes-x"}) {
    const auto made = KeyHasher::make(Secret(pepper));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::Config);
    EXPECT_THAT(made.error().message, testing::Not(testing::HasSubstr("fifteen-bytes")));
  }
  EXPECT_TRUE(KeyHasher::make(Secret("sixteen-bytes-xx")));
}

TEST(KeyHash, TheTextFormComesBackAsItWas) {
  const KeyDigest digest = hasher("pepper-pepper-aaaa").digest("key");
  EXPECT_EQ(parse_key_hash(to_text(digest)).value(), digest);
}

TEST(KeyHash, CapitalHexDigitsAreRead) {
  const auto small = parse_key_hash("hmac-sha256:" + std::string(62, '0') + "af");
  const auto capital = parse_key_hash("hmac-sha256:" + std::string(62, '0') + "AF");
  EXPECT_EQ(small.value(), capital.value());
  EXPECT_EQ(small->back(), std::byte{0xAF});
}

TEST(KeyHash, AnythingElseIsRefused) {
  const std::string digits(64, 'a');
  for (const std::string& text :
       {std::string(), digits, "sha256:" + digits, "HMAC-SHA256:" + digits, std::string("hmac-sha256:"),
        "hmac-sha256:" + digits.substr(1), "hmac-sha256:" + digits + "a",
        "hmac-sha256:" + digits.substr(1) + "g", "hmac-sha256: " + digits.substr(1),
        "hmac-sha256:" + digits.substr(1) + std::string(1, '\0')}) {
    const auto parsed = parse_key_hash(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Config);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("queqiao keys hash"));
  }
}

TEST(KeyHash, EqualityLooksAtEveryByte) {
  const KeyDigest digest = hasher("pepper-pepper-aaaa").digest("key");
  EXPECT_TRUE(equal_in_constant_time(digest, digest));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    KeyDigest other = digest;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(equal_in_constant_time(digest, other)) << i;
  }
}

}  // namespace
}  // namespace qq::admission
