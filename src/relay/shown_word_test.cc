#include "relay/shown_word.h"

#include <gtest/gtest.h>

namespace qq::relay {
namespace {

model::Target target_with(std::string_view credential) {
  model::Target target;
  target.auth_header_lines = Secret("authorization: Bearer " + std::string(credential) + "\r\n");
  return target;
}

TEST(ShownFinish, KeepsTheWordsOfAllDialects) {
  const model::Target target = target_with("sk-secretcredential0067abcdef");
  for (const std::string_view word :
       {"stop", "tool_calls", "content_filter", "end_turn", "STOP", "MALFORMED_FUNCTION_CALL", "max-tokens",
        "insufficient_system_resource", "completed", ""}) {
    EXPECT_EQ(shown_finish(word, target), word);
  }
}

TEST(ShownFinish, CallsEverythingElseOther) {
  const model::Target target = target_with("plainWordsOnly");
  for (const std::string_view word :
       {"sk-secretcredential0067abcdef", "plainWordsOnly", "PLAINWORDSONLY", "x_plainWordsOnly", "two words",
        "line\nbreak", "\\u0073top", "a_word_that_is_longer_than_any_finish_reason"}) {
    EXPECT_EQ(shown_finish(word, target), "other") << word;
  }
}

TEST(HeaderValue, IsShownIfItIsShortAndHidesNothing) {
  const model::Target target = target_with("abc/def+plain");
  EXPECT_TRUE(may_be_shown("2020-10-01", target));
  EXPECT_TRUE(may_be_shown("application/json; charset=utf-8", target));
  EXPECT_FALSE(may_be_shown("abc/def+plain", target));
  EXPECT_FALSE(may_be_shown("v=ABC/DEF+PLAIN", target));
  EXPECT_FALSE(may_be_shown("abc%2Fdef%2bplain", target));
  EXPECT_FALSE(may_be_shown("sk-secretcredential0065abcdef", target));
  EXPECT_FALSE(may_be_shown(std::string(101, '1'), target));
}

}  // namespace
}  // namespace qq::relay
