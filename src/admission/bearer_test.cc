#include "admission/bearer.h"

#include <string>

namespace qq::admission {
namespace {

TEST(ParseBearer, ReadsTheKeyWhateverTheSchemesCase) {
  for (const char* value : {"Bearer sk-1", "bearer sk-1", "BEARER sk-1", "bEaReR sk-1", "Bearer   sk-1",
                            "Bearer\tsk-1", "  Bearer sk-1 \t"}) {
    EXPECT_EQ(parse_bearer(value).value(), "sk-1") << value;
  }
}

TEST(ParseBearer, AKeyIsAnyVisibleAscii) {
  EXPECT_EQ(parse_bearer("Bearer a:b/c+d==~!{}\"").value(), "a:b/c+d==~!{}\"");
}

TEST(ParseBearer, TheResultIsAViewIntoTheHeader) {
  const std::string header = "Bearer sk-1";
  EXPECT_EQ(parse_bearer(header)->data(), header.data() + 7);
}

TEST(ParseBearer, AnythingElseIsRefused) {
  using std::string_literals::operator""s;
  for (const std::string& value :
       {""s, " "s, "Bearer"s, "Bearer "s, "Bearer \t"s, "sk-1"s, "Bearersk-1"s, "Bearer:sk-1"s,
        "Basic c2stMQ=="s, "Bearer a b"s, "Bearer a\tb"s, "Bearer a\0b"s, "Bearer \x7f"s,
        "Bearer caf\xC3\xA9"s, "Bearer a\r\nb"s, "Bear er"s, "Beare\xD2 sk-1"s}) {
    const auto parsed = parse_bearer(value);
    ASSERT_FALSE(parsed) << value;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Unauthorized);
    EXPECT_EQ(parsed.error().origin, ErrorOrigin::Client);
  }
}

TEST(ParseBearer, MessagesNeverRepeatTheHeader) {
  for (const char* value : {"Basic canary", "canary", "Bearer canary canary"}) {
    EXPECT_THAT(parse_bearer(value).error().message, testing::Not(testing::HasSubstr("canary")));
  }
}

TEST(PresentedKey, EachHeaderAloneIsRead) {
  EXPECT_EQ(presented_key({.authorization = "Bearer one", .x_api_key = {}, .api_key = {}}).value(), "one");
  EXPECT_EQ(presented_key({.authorization = {}, .x_api_key = "two", .api_key = {}}).value(), "two");
  EXPECT_EQ(presented_key({.authorization = {}, .x_api_key = {}, .api_key = " three "}).value(), "three");
}

TEST(PresentedKey, BearerComesFirstAndThenXApiKey) {
  EXPECT_EQ(presented_key({.authorization = "Bearer one", .x_api_key = "two", .api_key = "three"}).value(),
            "one");
  EXPECT_EQ(presented_key({.authorization = {}, .x_api_key = "two", .api_key = "three"}).value(), "two");
}

TEST(PresentedKey, ASubprotocolsKeyComesLast) {
  KeyHeaders headers;
  headers.subprotocol = "five";
  EXPECT_EQ(presented_key(headers).value(), "five");
  headers.authorization = "Basic abc";
  EXPECT_EQ(presented_key(headers).value(), "five");
  headers.x_goog_api_key = "four";
  EXPECT_EQ(presented_key(headers).value(), "four");
  headers.authorization = "Bearer one";
  EXPECT_EQ(presented_key(headers).value(), "one");
}

TEST(PresentedKey, AnotherSchemeGivesWayToAKeyHeader) {
  EXPECT_EQ(presented_key({.authorization = "Basic abc", .x_api_key = {}, .api_key = "three"}).value(),
            "three");
  EXPECT_FALSE(presented_key({.authorization = "Basic abc", .x_api_key = {}, .api_key = {}}));
}

TEST(PresentedKey, AMalformedFirstChoiceIsNotReplacedByTheNext) {
  EXPECT_FALSE(presented_key({.authorization = "Bearer ", .x_api_key = "two", .api_key = {}}));
  EXPECT_FALSE(presented_key({.authorization = {}, .x_api_key = "", .api_key = "three"}));
  EXPECT_FALSE(presented_key({.authorization = {}, .x_api_key = "two words", .api_key = "three"}));
}

TEST(PresentedKey, NoHeaderAtAllIsToldHowToSendOne) {
  const auto none = presented_key({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Unauthorized);
  EXPECT_THAT(none.error().message, testing::HasSubstr("Authorization: Bearer <key>"));
}

}  // namespace
}  // namespace qq::admission
