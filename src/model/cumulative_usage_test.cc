#include "model/cumulative_usage.h"

#include <gtest/gtest.h>

namespace qq::model {
namespace {

Usage told(std::optional<TokenCount> input, std::optional<TokenCount> output) {
  Usage usage;
  usage.input_uncached = input;
  usage.output_text = output;
  usage.source = UsageSource::Provider;
  return usage;
}

TEST(CumulativeUsage, Grows) {
  Usage usage;
  take_cumulative(usage, told(43, 1));
  take_cumulative(usage, told(61, 10));
  EXPECT_EQ(usage, told(61, 10));
}

TEST(CumulativeUsage, IsNotTakenBackByZerosOrSilence) {
  Usage usage;
  take_cumulative(usage, told(43, 10));
  take_cumulative(usage, told(0, 0));
  take_cumulative(usage, told(std::nullopt, 11));
  take_cumulative(usage, Usage{});
  EXPECT_EQ(usage, told(43, 11));
}

TEST(CumulativeUsage, KeepsAPartThatIsLeftOutLater) {
  Usage first = told(20, 3);
  first.cache_read = 80;
  first.reasoning = 7;
  Usage usage;
  take_cumulative(usage, first);
  take_cumulative(usage, told(100, 12));
  EXPECT_EQ(usage.input_total(), 100);
  EXPECT_EQ(usage.input_uncached, 20);
  EXPECT_EQ(usage.cache_read, 80);
  EXPECT_EQ(usage.output_total(), 12);
  EXPECT_EQ(usage.reasoning, 7);
  EXPECT_EQ(usage.output_text, 5);
}

TEST(CumulativeUsage, CountsAPartOnceThatIsToldLate) {
  Usage usage;
  take_cumulative(usage, told(100, 12));
  Usage last = told(20, 5);
  last.cache_read = 80;
  last.reasoning = 7;
  take_cumulative(usage, last);
  EXPECT_EQ(usage, last);
}

}  // namespace
}  // namespace qq::model
