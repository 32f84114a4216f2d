#include "wire/json_part.h"

namespace qq::wire {
namespace {

std::string_view model_in(std::string_view part) {
  return member_in_part(part, "model").text();
}

TEST(JsonPart, FindsATopLevelStringWhereverItStands) {
  EXPECT_EQ(model_in(R"({"model":"a"})"), R"("a")");
  EXPECT_EQ(model_in(R"( { "id" : "x\"}" , "n" : -1.5e3 , "ok":null, "model" : "a\"b" , "choices":[{"te)"),
            R"("a\"b")");
  EXPECT_EQ(model_in(R"({"data":[{"model":"inner"},[1,"]"]],"usage":{"model":"inner"},"model":"a","x)"),
            R"("a")");
}

TEST(JsonPart, FindsNothingThatIsNotWhole) {
  constexpr std::string_view kWhole = R"({"id":"x","l":[1,{"a":"b"}],"t":true,"model":"a")";
  for (std::size_t i = 0; i < kWhole.size(); ++i) EXPECT_EQ(model_in(kWhole.substr(0, i)), "") << i;
  EXPECT_EQ(model_in(kWhole), R"("a")");
}

TEST(JsonPart, FindsNothingElsewhere) {
  for (const std::string_view part :
       {"", "[", "{", "{}", R"([{"model":"a"}])", R"({"a":{"model":"b"}})", R"({"model":7})",
        R"({"model":null})", R"({"model":{"model":"a"}})", R"({"mod\u0065l":"a"})", R"({"a" "model":"b"})",
        R"({"a":1 "model":"b"})", R"({"a":"\)", R"({,"model":"a"})", R"("model":"a")"}) {
    EXPECT_EQ(model_in(part), "") << part;
  }
}

TEST(JsonPart, FindsAnObjectThatIsWhole) {
  const auto usage_in = [](std::string_view part) { return object_in_part(part, "usage").text(); };
  EXPECT_EQ(usage_in(R"({"id":"x","usage":{"n":{"m":1}},"choices":[{"te)"), R"({"n":{"m":1}})");
  EXPECT_EQ(usage_in(R"({"usage":"text"})"), "");
  EXPECT_EQ(usage_in(R"({"usage":{"n":1)"), "");
  EXPECT_EQ(usage_in(R"({"usage":{"n" 1},"a":2})"), "") << "it is checked";
}

TEST(JsonPart, FindsTheLastObjectOfATail) {
  const auto usage_in = [](std::string_view tail) { return object_in_tail(tail, "usage").text(); };
  EXPECT_EQ(usage_in(R"(xx","usage":{"n":{"m":"}"}},"id":"x"})"), R"({"n":{"m":"}"}})");
  EXPECT_EQ(usage_in(R"("usage":{"n":1},"usage" : {"n":2} })"), R"({"n":2})");
  EXPECT_EQ(usage_in(R"({"usage":{"n":1},"object":"usage"})"), R"({"n":1})") << "a value is no key";
  EXPECT_EQ(usage_in(R"({"usage":{"n":1},"usage":null,"my_usage":{}})"), R"({"n":1})");
  EXPECT_EQ(usage_in(R"({"usage":{"n":1}})").size(), 7U) << "not the document's brace";
}

TEST(JsonPart, FindsNoObjectInATailThatHasNoneThatIsWhole) {
  const auto usage_in = [](std::string_view tail) { return object_in_tail(tail, "usage").text(); };
  for (const std::string_view tail :
       {R"({"usage":{"n":01}})", R"({"usage":{"n":1,"d":{"r":0})", R"({"usage":null,"choices":[{"t":"a } b)",
        R"({"usage":{"n":1 "m":2}})", R"("usage)", R"("usage")", R"("usage":)", R"("usage":{)", "usage", "",
        R"(usage":{}})"}) {
    EXPECT_EQ(usage_in(tail), "") << tail;
  }
}

}  // namespace
}  // namespace qq::wire
