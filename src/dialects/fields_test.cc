#include "dialects/fields.h"

#include <gtest/gtest.h>

namespace qq::dialects {
namespace {

using Verdict = Support::Verdict;
constexpr std::array kTable{
    SupportEntry{Field::Seed, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Choices, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
};

TEST(Fields, WhatIsNotUsedIsNoLoss) {
  model::ChatRequest request;
  request.sampling.choices = 1;
  request.sampling.presence_penalty = 0;
  Losses losses;
  EXPECT_TRUE(check_support(request, model::Dialect::Anthropic, kTable, losses));
  EXPECT_TRUE(losses.empty());
}

TEST(Fields, LossesBearTheCallersNames) {
  model::ChatRequest request;
  request.dialect = model::Dialect::Gemini;
  request.sampling.seed = 1;
  Losses losses;
  ASSERT_TRUE(check_support(request, model::Dialect::Anthropic, kTable, losses));
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].field, "generationConfig.seed");
  EXPECT_EQ(losses[0].why, loss::kNoSuchField);
}

TEST(Fields, WhatMustNotBeLeftOutIsRefusedByItsName) {
  model::ChatRequest request;
  request.sampling.choices = 2;
  Losses losses;
  const Result<> checked = check_support(request, model::Dialect::Anthropic, kTable, losses);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::InvalidRequest);
  EXPECT_EQ(checked.error().param, "n");
}

TEST(Fields, StatesAreForeignOnlyToOthers) {
  model::ChatRequest request;
  model::Part part(model::ReasoningPart{});
  part.state = {model::Dialect::Anthropic, "sig"};
  request.turns.push_back({.role = model::Role::Assistant, .parts = {part}});
  Losses losses;
  ASSERT_TRUE(check_support(request, model::Dialect::Anthropic, kTable, losses));
  EXPECT_TRUE(losses.empty());
  ASSERT_TRUE(check_support(request, model::Dialect::Gemini, kTable, losses));
  EXPECT_EQ(losses.size(), 1U);
}

TEST(Fields, PartsOfToolResultsAreLookedInto) {
  model::Part inner(
      model::OpaquePart{.dialect = model::Dialect::Anthropic, .type = "tool_reference", .value = "{}"});
  inner.state = {model::Dialect::Anthropic, "sig"};
  inner.extra = {{"citations", "{}"}};
  model::Part result(model::ToolResultPart{.content = {inner}});
  model::ChatRequest request;
  request.dialect = model::Dialect::Anthropic;
  request.turns.push_back({.parts = {result}});
  constexpr std::array kLossy{SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
                              SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
                              SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}}};
  Losses losses;
  ASSERT_TRUE(check_support(request, model::Dialect::Gemini, kLossy, losses));
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[0].why, loss::kForeignPart);
  EXPECT_EQ(losses[1].why, loss::kForeignState);
  EXPECT_EQ(losses[2].field, "messages[].content[].content[].citations");
  losses.clear();
  ASSERT_TRUE(check_support(request, model::Dialect::Anthropic, kLossy, losses));
  EXPECT_TRUE(losses.empty());
}

TEST(Fields, WhatIsKeptAtTheCallersProviderIsRefused) {
  const auto refused = [](model::ChatRequest request) {
    request.dialect = model::Dialect::OpenAiResponses;
    Losses losses;
    EXPECT_TRUE(check_support(request, model::Dialect::OpenAiResponses, kTable, losses));
    const Result<> checked = check_support(request, model::Dialect::Anthropic, kTable, losses);
    return checked ? "" : checked.error().param;
  };
  EXPECT_EQ(refused({.extra = {{"prompt", R"({"id":"pmpt_1"})"}}}), "prompt");
  EXPECT_EQ(refused({.extra = {{"background", "true"}}}), "background");
  EXPECT_EQ(refused({.extra = {{"background", "false"}, {"prompt", "null"}}}), "");
  model::ChatRequest referring;
  referring.turns.push_back(
      {.parts = {model::Part(model::OpaquePart{.dialect = model::Dialect::OpenAiResponses,
                                               .type = "item_reference",
                                               .value = R"({"type":"item_reference","id":"msg_1"})"})}});
  EXPECT_EQ(refused(referring), "input");
}

TEST(Fields, LossesAreNamedInTheCallersWords) {
  const auto named = [](model::Dialect caller) {
    Losses losses{{"messages", loss::kNearest},
                  {"messages[].content[].a", loss::kNoSuchField},
                  {"seed", loss::kNoSuchField}};
    use_callers_words(caller, losses);
    return losses[0].field + " " + losses[1].field + " " + losses[2].field;
  };
  EXPECT_EQ(named(model::Dialect::OpenAiChat), "messages messages[].content[].a seed");
  EXPECT_EQ(named(model::Dialect::OpenAiResponses), "input input[].content[].a seed");
  EXPECT_EQ(named(model::Dialect::Gemini), "contents contents[].parts[].a seed");
}

TEST(Fields, EveryUnknownMemberIsALossOfItsOwn) {
  model::ChatRequest request;
  request.extra = {{"web_search_options", "{}"}, {"verbosity", "\"low\""}};
  Losses losses;
  ASSERT_TRUE(check_support(request, model::Dialect::Anthropic, kTable, losses));
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[1].field, "verbosity");
}

}  // namespace
}  // namespace qq::dialects
