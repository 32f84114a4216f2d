#include "telemetry/log/json_line.h"

#include <simdjson.h>

#include <string>

namespace qq::telemetry {
namespace {

using namespace std::string_view_literals;

std::string line_with(std::string_view value) {
  JsonLine line;
  line.begin();
  line.text("v", value);
  return std::string(line.finish());
}

// The value as a JSON reader sees it; a parse error fails the test.
std::string read_back(const std::string& line) {
  simdjson::dom::parser parser;
  std::string_view value;
  const auto error = parser.parse(line)["v"].get(value);
  EXPECT_EQ(error, simdjson::SUCCESS) << line;
  return std::string(value);
}

TEST(JsonLine, WritesEveryTypeOfField) {
  JsonLine line;
  line.begin();
  line.text("a", "b");
  line.integer("n", -42);
  line.integer("least", std::numeric_limits<std::int64_t>::min());
  line.boolean("yes", true);
  line.milliseconds("ms", std::chrono::microseconds(1'234'567));
  line.milliseconds("small", std::chrono::nanoseconds(7'900));
  EXPECT_EQ(line.finish(),
            R"({"a":"b","n":-42,"least":-9223372036854775808,"yes":true,"ms":1234.567,"small":0.007})"
            "\n");
}

TEST(JsonLine, StartsAfreshAtBegin) {
  JsonLine line;
  line.begin();
  line.text("old", "x");
  line.begin();
  line.text("new", "y");
  EXPECT_EQ(line.finish(), "{\"new\":\"y\"}\n");
}

struct Forgery {
  std::string_view value;
  std::string_view reads_as;
};

class JsonLineForgery : public testing::TestWithParam<Forgery> {};

TEST_P(JsonLineForgery, StaysOneLineOfPlainTextThatReadsBack) {
  const std::string line = line_with(GetParam().value);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  for (const char c : std::string_view(line).substr(0, line.size() - 1)) {
    EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    EXPECT_NE(c, 0x7f);
  }
  EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos) << "a C1 control sequence introducer survived";
  EXPECT_EQ(line.find("\xe2\x80\xae"), std::string::npos) << "a right-to-left override survived";
  EXPECT_EQ(line.find("\xe2\x80\xa8"), std::string::npos) << "a line separator survived";
  EXPECT_EQ(read_back(line), GetParam().reads_as);
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, JsonLineForgery,
    testing::Values(
        Forgery{"x\n{\"level\":\"error\",\"msg\":\"forged\"}", "x\n{\"level\":\"error\",\"msg\":\"forged\"}"},
        Forgery{"x\r\nforged", "x\r\nforged"},
        Forgery{"\",\"status\":200,\"x\":\"", "\",\"status\":200,\"x\":\""},
        Forgery{"ends in a backslash\\", "ends in a backslash\\"}, Forgery{"\\u000a", "\\u000a"},
        Forgery{"\x1b[2J\x1b[31mred", "\x1b[2J\x1b[31mred"}, Forgery{"\x1b]0;title\x07", "\x1b]0;title\x07"},
        Forgery{"nul\0byte"sv, "nul\0byte"sv}, Forgery{"\x7f delete", "\x7f delete"},
        Forgery{"c1 \xc2\x9b"
                "31m",
                "c1 \xc2\x9b"
                "31m"},
        Forgery{"rtl \xe2\x80\xae txt", "rtl \xe2\x80\xae txt"},
        Forgery{"sep \xe2\x80\xa8 x", "sep \xe2\x80\xa8 x"}, Forgery{"bom \xef\xbb\xbf", "bom \xef\xbb\xbf"},
        Forgery{"good: 鹊桥 é 🙂", "good: 鹊桥 é 🙂"}, Forgery{"lone \x80", "lone \xef\xbf\xbd"},
        Forgery{"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd"},
        Forgery{"overlong3 \xe0\x80\x80", "overlong3 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        Forgery{"surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        Forgery{"too high \xf4\x90\x80\x80", "too high \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        Forgery{"cut \xe9\xb9", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        Forgery{"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"}));

TEST(JsonLine, CutsALongValueBetweenCharacters) {
  std::string value(JsonLine::kValueMax - 1, 'a');
  value += "鹊桥";
  EXPECT_EQ(read_back(line_with(value)), std::string(JsonLine::kValueMax - 1, 'a'));
}

TEST(JsonLine, SaysThatAValueWasShortened) {
  const std::string full(JsonLine::kValueMax, 'a');
  EXPECT_THAT(line_with(full), testing::Not(testing::HasSubstr("truncated")));
  EXPECT_THAT(line_with(full + "b"), testing::EndsWith(",\"truncated\":true}\n"));
  for (const std::string& text : {full + " more", std::string(10'000, ' ')}) {
    JsonLine line;
    line.begin();
    line.redacted_text("m", text);
    EXPECT_THAT(std::string(line.finish()), testing::EndsWith(",\"truncated\":true}\n"));
  }
  JsonLine line;
  line.begin();
  line.redacted_text("m", std::string(JsonLine::kEventValueMax, 'a'), JsonLine::kEventValueMax);
  EXPECT_THAT(std::string(line.finish()), testing::Not(testing::HasSubstr("truncated")));
}

TEST(JsonLine, NeverExceedsItsLengthAndSaysThatFieldsAreMissing) {
  const std::string worst(JsonLine::kValueMax, '\x01');  // six bytes each once escaped
  JsonLine line;
  line.begin();
  for (int i = 0; i < 10; ++i) line.text("v", worst);
  line.begin_list("tries");
  for (int i = 0; i < 1000; ++i) {
    line.begin_element();
    line.text("target", "provider/account/model");
    line.integer("status", i);
    line.end_element();
  }
  line.end_list();
  const std::string_view text = line.finish();
  EXPECT_LE(text.size(), JsonLine::kLineMax);
  EXPECT_TRUE(text.ends_with(",\"truncated\":true}\n"));
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << text;
}

TEST(JsonLine, IsValidAtEveryFillLevel) {
  simdjson::dom::parser parser;
  for (std::size_t filler = 0; filler < 200; ++filler) {
    JsonLine line;
    line.begin();
    for (int i = 0; i < 15; ++i) line.text("v", std::string(244, 'a'));
    line.text("filler", std::string(filler, 'b'));
    line.text("quoted", "\"\"\"\"\"\"\"\"");
    line.begin_list("tries");
    for (int i = 0; i < 3; ++i) {
      line.begin_element();
      line.integer("status", 200);
      line.milliseconds("ms", std::chrono::milliseconds(3));
      line.end_element();
    }
    line.end_list();
    line.boolean("last", true);
    const std::string_view text = line.finish();
    ASSERT_LE(text.size(), JsonLine::kLineMax);
    ASSERT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << text;
  }
}

TEST(JsonLine, MasksWhatLooksLikeACredential) {
  JsonLine line;
  line.begin();
  line.redacted_text("m",
                     "refused: Bearer abcdef.CANARY7f3a9c0b1d2e4f5a6b7c8d9e and "
                     "sk-qq_CANARY7f3a9c0b1d2e4f5a6b7c8d9e, but not a risk-free word");
  const std::string text(line.finish());
  EXPECT_EQ(text.find("CANARY"), std::string::npos) << text;
  EXPECT_NE(text.find("but not a risk-free word"), std::string::npos) << text;
}

TEST(JsonLine, MasksACredentialThatTheCutWouldSplit) {
  JsonLine line;
  line.begin();
  line.redacted_text("m", std::string(JsonLine::kValueMax - 5, 'a') + " sk-CANARY7f3a9c0b1d2e4f5a6b7c8d9e");
  EXPECT_EQ(std::string(line.finish()).find("CAN"), std::string::npos);
}

}  // namespace
}  // namespace qq::telemetry
