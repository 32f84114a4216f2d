#include "config/expand.h"

#include <gtest/gtest.h>

#include "config/test_environment.h"

namespace qq::config {
namespace {

std::string expanded(std::string_view text) {
  return expand(text, test_environment()).value().text;
}

TEST(Expand, LeavesPlainTextAlone) {
  EXPECT_EQ(expanded(""), "");
  EXPECT_EQ(expanded("plain text"), "plain text");
  EXPECT_FALSE(expand("plain", test_environment())->from_outside);
}

TEST(Expand, PutsVariablesIntoTheText) {
  EXPECT_EQ(expanded("${WORD}"), "canary-word");
  EXPECT_EQ(expanded("a${NUMBER}b${NUMBER}c"), "a4b4c");
  EXPECT_EQ(expanded("x${EMPTY}y"), "xy");
  EXPECT_TRUE(expand("${EMPTY}", test_environment())->from_outside);
}

TEST(Expand, TakesTheDefaultWhereTheVariableIsMissingOrEmpty) {
  EXPECT_EQ(expanded("${NONE:-fall back}"), "fall back");
  EXPECT_EQ(expanded("${EMPTY:-fall back}"), "fall back");
  EXPECT_EQ(expanded("${NUMBER:-5}"), "4");
  EXPECT_EQ(expanded("${NONE:-}"), "");
  EXPECT_EQ(expanded("${NONE:-a:-b}"), "a:-b");
}

TEST(Expand, ReadsFilesWithoutTheirLastLineEnd) {
  EXPECT_EQ(expanded("${file:/run/secrets/key}"), "canary-from-file");
  Environment environment;
  environment.file = [](const std::string&) { return std::string("two\nlines\r\n"); };
  EXPECT_EQ(expand("${file:x}", environment)->text, "two\nlines");
}

TEST(Expand, TwoDollarsAreOne) {
  EXPECT_EQ(expanded("$$"), "$");
  EXPECT_EQ(expanded("$${WORD}"), "${WORD}");
  EXPECT_EQ(expanded("$$$$"), "$$");
  EXPECT_FALSE(expand("$$", test_environment())->from_outside);
}

TEST(Expand, ADollarBeforeAnythingElseIsItself) {
  EXPECT_EQ(expanded("$WORD costs 5$"), "$WORD costs 5$");
}

TEST(Expand, DoesNotExpandWhatItInserted) {
  EXPECT_EQ(expand("${A}", test_environment({{"A", "${WORD}$$"}}))->text, "${WORD}$$");
}

TEST(Expand, RefusesWhatItCannotResolve) {
  for (const auto* bad : {"${NONE}", "${", "${WORD", "${}", "${ WORD}", "${WORD }", "${1A}", "${A-B}",
                          "${file:}", "${file:/none}", "${A:-${WORD}}", "${:-x}", "${WORD:x}"}) {
    const auto result = expand(bad, test_environment());
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().find("canary"), std::string::npos);
  }
}

}  // namespace
}  // namespace qq::config
