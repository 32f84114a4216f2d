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

TEST(Usage, OfATranscriptSaysHowMuchOfItWasAudio) {
  const model::Usage usage =
      usage_of(R"({"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59,)"
               R"("input_token_details":{"text_tokens":4,"audio_tokens":10}})");
  EXPECT_EQ(usage.audio_input, 10);
  EXPECT_EQ(usage.input_uncached, 4);
  EXPECT_EQ(usage.input_total(), 14);
  EXPECT_EQ(usage.output_text, 45);
  EXPECT_EQ(usage_of(R"({"type":"duration","seconds":12})").source, model::UsageSource::None);
}

TEST(Usage, SoundAndImagesAreBucketsOfTheirOwn) {
  const model::Usage spoken =
      usage_of(R"({"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500,)"
               R"("prompt_tokens_details":{"cached_tokens":0,"audio_tokens":900},)"
               R"("completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":400}})");
  EXPECT_EQ(spoken.input_uncached, 100);
  EXPECT_EQ(spoken.audio_input, 900);
  EXPECT_EQ(spoken.output_text, 100);
  EXPECT_EQ(spoken.audio_output, 400);
  const model::Usage drawn =
      usage_of(R"({"input_tokens":300,"output_tokens":272,"input_tokens_details":{"image_tokens":259,)"
               R"("text_tokens":41},"output_tokens_details":{"image_tokens":272,"text_tokens":0}})");
  EXPECT_EQ(drawn.input_uncached, 41);
  EXPECT_EQ(drawn.image_input, 259);
  EXPECT_EQ(drawn.output_text, 0);
  EXPECT_EQ(drawn.image_output, 272);
}

TEST(Usage, SoundThatWasCachedOrIsMoreThanAllIsNotCountedTwice) {
  const model::Usage usage =
      usage_of(R"({"prompt_tokens":100,"completion_tokens":10,)"
               R"("prompt_tokens_details":{"audio_tokens":90,"cached_tokens":60,"image_tokens":90},)"
               R"("completion_tokens_details":{"audio_tokens":99,"reasoning_tokens":4}})");
  EXPECT_EQ(usage.cache_read, 60);
  EXPECT_EQ(usage.audio_input, 40);
  EXPECT_EQ(usage.image_input, 0);
  EXPECT_EQ(usage.input_uncached, 0);
  EXPECT_EQ(usage.reasoning, 4);
  EXPECT_EQ(usage.audio_output, 6);
  EXPECT_EQ(usage.output_text, 0);
}

TEST(Usage, ThatNothingWasSoundIsNoFigure) {
  const model::Usage usage =
      usage_of(R"({"prompt_tokens":9,"completion_tokens":9,"prompt_tokens_details":{"audio_tokens":0},)"
               R"("completion_tokens_details":{"audio_tokens":0}})");
  EXPECT_FALSE(usage.audio_input);
  EXPECT_FALSE(usage.audio_output);
}

model::Usage ranking_usage(std::string_view document) {
  return decode_ranking_usage(wire::JsonValue(document), {});
}

TEST(RankingUsage, IsReadInEachProvidersForm) {
  EXPECT_EQ(ranking_usage(R"({"results":[],"usage":{"total_tokens":815}})").input_uncached, 815) << "Jina";
  EXPECT_EQ(
      ranking_usage(R"({"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}})").input_total(),
      9);
  const model::Usage cohere =
      ranking_usage(R"({"meta":{"billed_units":{"input_tokens":12,"output_tokens":3}}})");
  EXPECT_EQ(cohere.input_uncached, 12);
  EXPECT_EQ(cohere.output_text, 3);
  EXPECT_EQ(cohere.source, model::UsageSource::Provider);
}

TEST(RankingUsage, IsNoneWhereSearchesAreBilled) {
  for (const std::string_view document :
       {R"({"meta":{"billed_units":{"search_units":1}}})", R"({"meta":null})", R"({"usage":{}})", R"({})",
        R"({"usage":{"total_tokens":-1}})"}) {
    EXPECT_EQ(ranking_usage(document).source, model::UsageSource::None) << document;
  }
}

TEST(RankingUsage, ATotalAloneIsNoUsageOfAConversation) {
  EXPECT_EQ(usage_of(R"({"total_tokens":815})").source, model::UsageSource::None);
}

}  // namespace
}  // namespace qq::dialects::openai
