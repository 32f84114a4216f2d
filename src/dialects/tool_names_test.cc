#include "dialects/tool_names.h"

#include <gtest/gtest.h>

#include <set>

namespace qq::dialects {
namespace {

using model::Dialect;

// 71 letters, of an MCP server.
constexpr std::string_view kLong = "mcp__plugin_yt-content-strategist_youtube-analytics__get_video_details";

model::ChatRequest with_tool(std::string_view name, Dialect dialect = Dialect::Anthropic) {
  model::ChatRequest request;
  request.dialect = dialect;
  request.tools.push_back({.name = std::string(name), .schema = "{}"});
  request.tool_choice = {.mode = model::ToolChoice::Mode::Required, .only = {std::string(name)}};
  model::Turn asked{.role = model::Role::Assistant};
  asked.parts.emplace_back(model::ToolCallPart{.id = "c1", .name = std::string(name), .arguments = "{}"});
  model::Turn told{.role = model::Role::User};
  told.parts.emplace_back(model::ToolResultPart{.call_id = "c1", .name = std::string(name)});
  request.turns = {asked, told};
  return request;
}

std::string fitted(std::string_view name, Dialect target) {
  ToolNames names;
  const auto request = names.fit(with_tool(name, Dialect::Ollama), target);
  return request ? request->tools.front().name : std::string(name);
}

TEST(ToolNames, WhatFitsStays) {
  for (const Dialect target : {Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Gemini,
                               Dialect::Bedrock, Dialect::Anthropic, Dialect::Cohere, Dialect::Declared}) {
    ToolNames names;
    EXPECT_FALSE(names.fit(with_tool("get_weather-2", Dialect::Ollama), target));
    EXPECT_TRUE(names.empty());
  }
  EXPECT_EQ(fitted(kLong, Dialect::Anthropic), kLong);
  EXPECT_EQ(fitted("files:read.all", Dialect::Gemini), "files:read.all");
}

TEST(ToolNames, ACallerOfTheTargetsDialectKeepsItsNames) {
  ToolNames names;
  EXPECT_FALSE(names.fit(with_tool(kLong, Dialect::OpenAiChat), Dialect::OpenAiChat));
}

TEST(ToolNames, ANameIsTheSameWhereverItStands) {
  ToolNames names;
  const auto request = names.fit(with_tool(kLong), Dialect::OpenAiChat);
  ASSERT_TRUE(request);
  const std::string& name = request->tools.front().name;
  EXPECT_EQ(name.size(), 64U);
  EXPECT_TRUE(name.starts_with(kLong.substr(0, 55))) << name;
  EXPECT_EQ(request->tool_choice->only.front(), name);
  EXPECT_EQ(request->turns[0].parts[0].as<model::ToolCallPart>()->name, name);
  EXPECT_EQ(request->turns[1].parts[0].as<model::ToolResultPart>()->name, name);
  EXPECT_EQ(names.original(name), kLong);
  EXPECT_EQ(names.original("another"), "another");
}

TEST(ToolNames, EachRuleIsKept) {
  EXPECT_EQ(fitted("files.read", Dialect::OpenAiChat).substr(0, 11), "files_read_");
  EXPECT_EQ(fitted("files:read", Dialect::Anthropic).substr(0, 11), "files_read_");
  EXPECT_EQ(fitted("7zip", Dialect::Gemini).substr(0, 6), "_7zip_");
  EXPECT_EQ(fitted(std::string(200, 'a'), Dialect::Anthropic).size(), 128U);
  EXPECT_EQ(fitted(kLong, Dialect::Bedrock).size(), 64U);
  EXPECT_EQ(fitted("\xe5\xa4\xa9\xe6\xb0\x94", Dialect::Gemini).find_first_of("\xe5\xa4"), std::string::npos);
}

TEST(ToolNames, TwoNamesStayTwo) {
  std::set<std::string> all;
  for (int i = 0; i < 1'000; ++i) {
    all.insert(fitted(std::string(kLong) + "_" + std::to_string(i), Dialect::OpenAiChat));
  }
  EXPECT_EQ(all.size(), 1'000U);
  EXPECT_NE(fitted("a.b", Dialect::OpenAiChat), fitted("a:b", Dialect::OpenAiChat));
}

TEST(ToolNames, AnswersHaveTheCallersName) {
  ToolNames names;
  const auto request = names.fit(with_tool(kLong), Dialect::Gemini);
  const std::string name = request->tools.front().name;
  model::ChatAnswer answer;
  answer.choices.emplace_back().parts.emplace_back(
      model::ToolCallPart{.id = "c", .name = name, .arguments = "{}"});
  names.restore(answer);
  EXPECT_EQ(answer.choices[0].parts[0].as<model::ToolCallPart>()->name, kLong);

  class Kept final : public StreamEncoder {
   public:
    explicit Kept(std::string& name) : name_(name) {}
    void encode(const model::StreamEvent& event, std::string&) override { name_ = event.name; }

   private:
    std::string& name_;
  };
  std::string heard;
  const auto encoder = with_original_names(std::make_unique<Kept>(heard), names);
  std::string out;
  encoder->encode(
      {.kind = model::StreamEvent::Kind::PartStarted, .part_kind = model::PartKind::ToolCall, .name = name},
      out);
  EXPECT_EQ(heard, kLong);
}

}  // namespace
}  // namespace qq::dialects
