#include "dialects/openai/efforts.h"

#include <gtest/gtest.h>

namespace qq::dialects::openai {
namespace {

using enum model::ReasoningWish::Effort;

// What becomes of none, minimal, …, max.
std::string taken_by(std::string upstream, std::string ours = {}) {
  model::Target target;
  target.upstream_model = std::move(upstream);
  target.model = std::move(ours);
  std::string out;
  for (const Effort wish : {None, Minimal, Low, Medium, High, XHigh, Max})
    out.append(out.empty() ? "" : " ").append(word_of(nearest_effort(wish, target)));
  return out;
}

TEST(Efforts, AreThoseThatTheModelTakes) {
  constexpr const char* kThree = "low low low medium high high high";
  for (const char* name : {"o1", "o3-mini", "openai/o4-mini", "gpt-oss-120b", "gpt-5-codex", "gpt-5.1-codex"})
    EXPECT_EQ(taken_by(name), kThree) << name;
  EXPECT_EQ(taken_by("gpt-5-mini-2025-08-07"), "minimal minimal low medium high high high");
  EXPECT_EQ(taken_by("gpt-5-pro"), "high high high high high high high");
  EXPECT_EQ(taken_by("gpt-5.1"), "none low low medium high high high");
  EXPECT_EQ(taken_by("gpt-5.1-codex-max"), "low low low medium high xhigh xhigh");
  EXPECT_EQ(taken_by("gpt-5.2"), "none low low medium high xhigh xhigh");
  EXPECT_EQ(taken_by("gpt-5.4-pro"), "medium medium medium medium high xhigh xhigh");
  EXPECT_EQ(taken_by("gpt-5.6-sol"), "none low low medium high xhigh max");
  EXPECT_EQ(taken_by("gpt-5.1-chat-latest"), "medium medium medium medium medium medium medium");
}

TEST(Efforts, OfADeploymentAreThoseOfOurNameOfTheModel) {
  EXPECT_EQ(taken_by("prod-2", "gpt-5"), "minimal minimal low medium high high high");
  EXPECT_EQ(taken_by("prod-2", "fast"), "none low low medium high high high");
  EXPECT_EQ(taken_by("demo1-o3x"), "low low low medium high high high");
  EXPECT_EQ(taken_by("solo1"), "none low low medium high high high") << "no word of a model's name";
}

}  // namespace
}  // namespace qq::dialects::openai
