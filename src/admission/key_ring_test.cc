#include "admission/key_ring.h"

#include <string>
#include <vector>

#include "admission/key_format.h"

namespace qq::admission {
namespace {

class KeyRingTest : public testing::Test {
 protected:
  std::string hash_of(std::string_view key) const { return to_text(hasher_.digest(key)); }
  void add(std::string name, std::string_view key) {
    keys_.push_back({.name = std::move(name), .hash = hash_of(key), .owner = {}, .allow = {}});
  }
  KeyRing ring() const { return KeyRing::make(keys_, hasher_).value(); }
  Error error() const {
    auto made = KeyRing::make(keys_, hasher_);
    EXPECT_FALSE(made);
    return made ? Error() : made.error();
  }

  KeyHasher hasher_ = KeyHasher::make(Secret("a pepper of enough bytes")).value();
  std::vector<KeyConfig> keys_;
};

TEST_F(KeyRingTest, FindsTheKeyThatWasPresented) {
  std::vector<Secret> secrets;
  for (int i = 0; i < 500; ++i) {
    secrets.push_back(make_key());
    add("key-" + std::to_string(i), secrets.back().reveal());
  }
  const KeyRing keys = ring();
  EXPECT_EQ(keys.size(), 500U);
  for (int i = 0; i < 500; ++i) {
    const KeyEntry* found = keys.find(secrets[static_cast<std::size_t>(i)].reveal());
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name, "key-" + std::to_string(i));
  }
  EXPECT_EQ(keys.find(make_key().reveal()), nullptr);
}

TEST_F(KeyRingTest, AnOperatorsOwnStringWorksOnceItsHashIsConfigured) {
  add("old", "legacy");
  EXPECT_EQ(ring().find("legacy")->name, "old");
  EXPECT_EQ(ring().find("Legacy"), nullptr);
}

TEST_F(KeyRingTest, TheHashIsTheOneThatAnotherImplementationMakes) {
  // Python: hmac.new(b"0123456789abcdef", b"legacy", "sha256")
  keys_ = {{.name = "old",
            .hash = "hmac-sha256:6a724efe2657cefad7c77b679d45f994e0c9a9fb6b229ecfbcd974dc789d5cb2",
            .owner = {},
            .allow = {}}};
  const auto keys = KeyRing::make(keys_, KeyHasher::make(Secret("0123456789abcdef")).value()).value();
  EXPECT_NE(keys.find("legacy"), nullptr);
}

TEST_F(KeyRingTest, ADisabledKeyIsAnsweredLikeAnUnknownOne) {
  add("off", "legacy");
  keys_.back().enabled = false;
  EXPECT_EQ(ring().find("legacy"), nullptr);
}

TEST_F(KeyRingTest, ARingOfDisabledKeysIsNotAnEmptyOne) {
  EXPECT_EQ(ring().size(), 0U);
  add("off", "legacy");
  keys_.back().enabled = false;
  EXPECT_EQ(ring().size(), 1U);
}

TEST_F(KeyRingTest, TheHashItselfIsNoKey) {
  add("old", "legacy");
  EXPECT_EQ(ring().find(hash_of("legacy")), nullptr);
}

TEST_F(KeyRingTest, AMistypedKeyIsNobodys) {
  std::string key(make_key().reveal());
  add("right", key);
  EXPECT_NE(ring().find(key), nullptr);
  key.back() = key.back() == '0' ? '1' : '0';
  EXPECT_EQ(ring().find(key), nullptr);
}

TEST_F(KeyRingTest, EmptyAndVeryLongKeysAreNobodys) {
  const std::string longest(KeyRing::kPresentedMax, 'x');
  const std::string too_long(KeyRing::kPresentedMax + 1, 'x');
  add("empty", "");
  add("longest", longest);
  add("too-long", too_long);
  const KeyRing keys = ring();
  EXPECT_EQ(keys.find(""), nullptr);
  EXPECT_NE(keys.find(longest), nullptr);
  EXPECT_EQ(keys.find(too_long), nullptr);
}

TEST_F(KeyRingTest, ARingOfNothingFindsNothing) {
  EXPECT_EQ(KeyRing().find("legacy"), nullptr);
  EXPECT_EQ(ring().find("legacy"), nullptr);
}

TEST_F(KeyRingTest, TheOwnerDefaultsToTheName) {
  add("demo", "one");
  add("team-key", "two");
  keys_.back().owner = "team";
  EXPECT_EQ(ring().find("one")->owner, "demo");
  EXPECT_EQ(ring().find("two")->owner, "team");
}

TEST_F(KeyRingTest, AnEntryOutlivesAMoveOfTheRing) {
  add("demo", "one");
  KeyRing first = ring();
  const KeyEntry* entry = first.find("one");
  const KeyRing second = std::move(first);
  EXPECT_EQ(second.find("one"), entry);
}

TEST_F(KeyRingTest, AMalformedHashIsNamed) {
  add("good", "one");
  keys_.push_back({.name = "bad", .hash = "hmac-sha256:xyz", .owner = {}, .allow = {}});
  EXPECT_EQ(error().kind, ErrorKind::Config);
  EXPECT_EQ(error().param, "keys[1].hash");
}

TEST_F(KeyRingTest, TwoKeysOfOneHashOrNameAreRefused) {
  add("a", "one");
  add("b", "one");
  EXPECT_EQ(error().param, "keys[1].hash");
  EXPECT_THAT(error().message, testing::AllOf(testing::HasSubstr("\"a\""), testing::HasSubstr("\"b\"")));
  keys_.clear();
  add("a", "one");
  add("a", "two");
  EXPECT_EQ(error().param, "keys[1].name");
}

TEST_F(KeyRingTest, ADisabledKeysHashIsStillTaken) {
  add("a", "one");
  keys_.back().enabled = false;
  add("b", "one");
  EXPECT_EQ(error().param, "keys[1].hash") << "or disabling a leaked key could be undone by a copy of it";
}

TEST_F(KeyRingTest, AKeyMayUseWhatItsListAllowsAndEverythingWithoutOne) {
  add("all", "one");
  add("some", "two");
  keys_.back().allow = {"gpt-mini", "chat-fast"};
  const KeyRing keys = ring();
  const KeyEntry* all = keys.find("one");
  const KeyEntry* some = keys.find("two");
  EXPECT_TRUE(may_use(*all, "anything"));
  EXPECT_TRUE(may_use(*some, "chat-fast"));
  EXPECT_TRUE(may_use(*some, "gpt-mini"));
  for (const char* other : {"", "gpt", "gpt-mini-2", "GPT-mini", "chat"})
    EXPECT_FALSE(may_use(*some, other)) << other;
}

}  // namespace
}  // namespace qq::admission
