#include "dialects/openai/answer.h"

namespace qq::dialects::openai {
namespace {

model::Usage usage_of(std::string_view text, bool reasoning_excluded = false) {
  return decode_usage(wire::JsonValue(text), {.reasoning_excluded_from_output = reasoning_excluded});
}

TEST(Usage, ReasoningLargerThanItsWholeIsCutToIt) {
  for (const std::string_view total : {"", R"("total_tokens":15,)"}) {
    const model::Usage usage = usage_of(R"({"prompt_tokens":10,"completion_tokens":5,)" + std::string(total) +
                                        R"("completion_tokens_details":{"reasoning_tokens":20}})");
    EXPECT_EQ(usage.reasoning, 5);
    EXPECT_EQ(usage.output_text, 0);
    EXPECT_EQ(usage.output_total(), 5) << "what is billed";
  }
}

TEST(Usage, ReasoningThatTheTotalCountsBesideTheOutputStaysWhole) {
  const model::Usage usage = usage_of(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,)"
                                      R"("completion_tokens_details":{"reasoning_tokens":20}})");
  EXPECT_EQ(usage.output_text, 5);
  EXPECT_EQ(usage.reasoning, 20);
}

TEST(Usage, ReasoningOfAProviderKnownToExcludeItStaysWhole) {
  const model::Usage usage = usage_of(
      R"({"prompt_tokens":10,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":20}})",
      true);
  EXPECT_EQ(usage.output_total(), 25);
}

TEST(Usage, FiguresMayBeSpelledAsWholeDecimals) {
  for (const std::string_view spelling : {"100", "100.0", "1e2", "1E+2", "10.0e1"}) {
    const std::string figure(spelling);
    const model::Usage usage = usage_of(R"({"prompt_tokens":)" + figure + R"(,"completion_tokens":)" +
                                        figure + R"(,"prompt_tokens_details":{"cached_tokens":4e1}})");
    EXPECT_EQ(usage.input_uncached, 60) << spelling;
    EXPECT_EQ(usage.cache_read, 40) << spelling;
    EXPECT_EQ(usage.output_text, 100) << spelling;
  }
  for (const std::string_view no_count :
       {"-1.0", "1.5", "1e300", "1e400", "9007199254740993.0e1", "null", "\"7\"", "true"}) {
    const model::Usage usage =
        usage_of(R"({"prompt_tokens":3,"completion_tokens":)" + std::string(no_count) + "}");
    EXPECT_FALSE(usage.output_text) << no_count;
  }
}

}  // namespace
}  // namespace qq::dialects::openai
