// Rankings, which pass through.
#include "simulation/scripted_provider.h"

namespace qq::simulation::rerank {
namespace {

Ask ranking(std::string_view model, std::string_view path = "/v1/rerank") {
  Ask ask;
  ask.path = path;
  ask.body = R"({"model":")" + std::string(model) +
             R"(","query":"rivers","documents":["a bridge","a river"],"top_n":1})";
  return ask;
}

constexpr std::string_view kRanked = R"({"id":"r1","results":[{"index":1,"relevance_score":0.98}],)";

TEST(Rerank, PassesThroughWithTheModelReplaced) {
  for (const std::string_view path : {"/v1/rerank", "/v2/rerank"}) {
    ScriptedWorld scripted;
    const std::string answer = std::string(kRanked) + R"("model":"real-model","usage":{"total_tokens":17}})";
    scripted.provider.replies = {{.body = answer}};
    const Exchange heard = scripted.world.ask(ranking("asked", path));
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_EQ(heard.reply.body, std::string(kRanked) + R"("model":"asked","usage":{"total_tokens":17}})");
    ASSERT_EQ(scripted.provider.requests.size(), 1U);
    const std::string& sent = scripted.provider.requests[0];
    EXPECT_TRUE(sent.starts_with("POST /v1/rerank HTTP/1.1\r\n")) << "as the provider's base URL has it";
    EXPECT_TRUE(sent.ends_with(
        R"({"model":"real-model","query":"rivers","documents":["a bridge","a river"],"top_n":1})"))
        << sent;
    ASSERT_TRUE(heard.record);
    EXPECT_EQ(heard.record->usage.input_uncached, 17);
    EXPECT_EQ(heard.record->usage.source, model::UsageSource::Provider);
  }
}

TEST(Rerank, WhatCohereBillsInTokensIsUsage) {
  ScriptedWorld scripted;
  scripted.provider.replies = {
      {.body = std::string(kRanked) + R"("meta":{"billed_units":{"input_tokens":21}}})"},
      {.body = std::string(kRanked) + R"("meta":{"billed_units":{"search_units":1}}})"}};
  const Exchange tokens = scripted.world.ask(ranking("asked"));
  ASSERT_TRUE(tokens.record);
  EXPECT_EQ(tokens.record->usage.input_uncached, 21);
  const Exchange searches = scripted.world.ask(ranking("asked"));
  ASSERT_TRUE(searches.record);
  EXPECT_EQ(searches.record->usage.source, model::UsageSource::None);
}

TEST(Rerank, AnAnswerWithoutResultsIsNone) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = R"({"results":[],"usage":{"total_tokens":17}})"},
                               {.body = std::string(kRanked) + R"("model":"real-model"})"}};
  const Exchange heard = scripted.world.ask(ranking("asked"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.story(), "empty_reply,success");
}

TEST(Rerank, ErrorsNameTheField) {
  ScriptedWorld scripted;
  Ask ask = ranking("asked");
  ask.body = R"({"query":"rivers","documents":["a bridge"]})";
  const Exchange heard = scripted.world.ask(ask);
  EXPECT_EQ(heard.reply.status, 400);
  EXPECT_NE(heard.reply.body.find(R"("param":"model")"), std::string::npos) << heard.reply.body;
  EXPECT_TRUE(scripted.provider.requests.empty());
}

}  // namespace
}  // namespace qq::simulation::rerank
