#include "dialects/reasoning.h"

#include <gtest/gtest.h>

namespace qq::dialects {
namespace {

TEST(Reasoning, EveryWordNamesItsEffort) {
  for (const Effort effort : {Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High,
                              Effort::XHigh, Effort::Max}) {
    EXPECT_EQ(effort_of(word_of(effort)), effort);
  }
  EXPECT_FALSE(effort_of("extreme"));
}

TEST(Reasoning, BudgetsRoundUpToAnEffort) {
  EXPECT_EQ(effort_of_budget(0), Effort::None);
  EXPECT_EQ(effort_of_budget(-1), Effort::Medium);
  EXPECT_EQ(effort_of_budget(1), Effort::Low);
  EXPECT_EQ(effort_of_budget(1024), Effort::Low);
  EXPECT_EQ(effort_of_budget(1025), Effort::Medium);
  EXPECT_EQ(effort_of_budget(1'000'000), Effort::Max);
}

TEST(Reasoning, AWishIsOneThingInEitherForm) {
  EXPECT_EQ(budget_of(model::ReasoningWish{.effort = Effort::High}), 24576);
  EXPECT_EQ(effort_of(model::ReasoningWish{.budget_tokens = 8192}), Effort::Medium);
  EXPECT_FALSE(effort_of(model::ReasoningWish{}));
  EXPECT_EQ(effort_of(model::ReasoningWish{.effort = Effort::Low, .budget_tokens = 30000}), Effort::Low);
}

TEST(Reasoning, AnAnthropicClientThatThinksIsShownThoughtsUnlessItSaysNo) {
  using model::Dialect;
  EXPECT_EQ(hears_thoughts({.budget_tokens = 2048}, Dialect::Anthropic), true);
  EXPECT_EQ(hears_thoughts({.budget_tokens = -1}, Dialect::Anthropic), true);
  EXPECT_EQ(hears_thoughts({.budget_tokens = 2048, .show = false}, Dialect::Anthropic), false);
  EXPECT_EQ(hears_thoughts({.budget_tokens = 0}, Dialect::Anthropic), std::nullopt);
  EXPECT_EQ(hears_thoughts({.effort = Effort::High}, Dialect::Anthropic), std::nullopt) << "does not think";
  EXPECT_EQ(hears_thoughts({.budget_tokens = 2048}, Dialect::Gemini), std::nullopt);
}

}  // namespace
}  // namespace qq::dialects
