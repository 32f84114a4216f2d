#include "admission/key_format.h"

#include <set>
#include <string>

namespace qq::admission {
namespace {

// Made with Python's zlib.crc32.
constexpr std::string_view kZeros = "sk-qq_000000000000000000000000000000002wjyrI";
constexpr std::string_view kMixed = "sk-qq_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZ1i9q64";

TEST(KeyFormat, KeysMadeByAnotherImplementationAreAccepted) {
  EXPECT_EQ(key_format(kZeros), KeyFormat::Ours);
  EXPECT_EQ(key_format(kMixed), KeyFormat::Ours);
}

TEST(KeyFormat, ANewKeyIsOurs) {
  for (int i = 0; i < 200; ++i) {
    const Secret key = make_key();
    EXPECT_EQ(key.reveal().size(), 44U);
    EXPECT_TRUE(key.reveal().starts_with("sk-qq_"));
    EXPECT_EQ(key_format(key.reveal()), KeyFormat::Ours);
  }
}

TEST(KeyFormat, NewKeysDifferAndUseTheWholeAlphabet) {
  std::set<std::string> keys;
  std::array<int, 128> seen{};
  for (int i = 0; i < 2000; ++i) {
    const Secret key = make_key();
    keys.emplace(key.reveal());
    for (const char c : key.reveal().substr(6, 32)) ++seen[static_cast<std::size_t>(c)];
  }
  EXPECT_EQ(keys.size(), 2000U);
  int letters = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++letters;
    EXPECT_NEAR(count, 2000 * 32 / 62, 180) << "each of 62 characters equally often";
  }
  EXPECT_EQ(letters, 62);
}

TEST(KeyFormat, AnyOneWrongCharacterIsNoticed) {
  for (std::size_t i = kKeyPrefix.size(); i < kMixed.size(); ++i) {
    for (const char c : {'0', 'Z', 'q', '-', ' ', '\0', '\xE9'}) {
      std::string key(kMixed);
      if (key[i] == c) continue;
      key[i] = c;
      EXPECT_EQ(key_format(key), KeyFormat::Mistyped) << i << " " << c;
    }
  }
}

TEST(KeyFormat, CutExtendedAndSwappedKeysAreMistyped) {
  for (std::size_t length = kKeyPrefix.size(); length < kMixed.size(); ++length) {
    EXPECT_EQ(key_format(kMixed.substr(0, length)), KeyFormat::Mistyped) << length;
  }
  std::string longer(kMixed);
  longer.push_back('0');
  EXPECT_EQ(key_format(longer), KeyFormat::Mistyped);
  std::string swapped(kMixed);
  std::swap(swapped[10], swapped[11]);
  EXPECT_EQ(key_format(swapped), KeyFormat::Mistyped);
}

TEST(KeyFormat, OtherPeoplesKeysAreForeign) {
  for (const char* key : {"", "sk-", "sk-qq", "SK-QQ_", "sk-proj-abc", "legacy key", "xsk-qq_"}) {
    EXPECT_EQ(key_format(key), KeyFormat::Foreign) << key;
  }
}

}  // namespace
}  // namespace qq::admission
