#include "model/answer_builder.h"

#include <gtest/gtest.h>

namespace qq::model {
namespace {

ChatAnswer an_answer() {
  ChatAnswer answer;
  answer.id = "a1";
  answer.model = "m";
  answer.created = 7;
  Choice choice;
  Part thought(ReasoningPart{.text = "Think."});
  thought.state = {Dialect::Anthropic, "sig"};
  choice.parts.push_back(std::move(thought));
  choice.parts.emplace_back(TextPart{.text = "Hello", .citations = {R"({"c":1})"}});
  choice.parts.emplace_back(ToolCallPart{.id = "c1", .name = "f", .arguments = R"({"x":1})"});
  choice.parts.emplace_back(MediaPart{.data = "AAAA", .media_type = "image/png"});
  choice.finish = Finish::ToolCalls;
  choice.finish_word = "tool_use";
  choice.logprobs = R"([{"token":"H"}])";
  answer.choices.push_back(std::move(choice));
  answer.choices.push_back(
      {.index = 1, .parts = {}, .finish = Finish::StopString, .finish_word = "stop", .stop_string = "END"});
  answer.usage.input_uncached = 3;
  answer.usage.source = UsageSource::Provider;
  return answer;
}

TEST(AnswerBuilder, WhatBelongsToNoPartIsLeftOut) {
  AnswerBuilder builder(Dialect::OpenAiChat);
  const OpaqueState state{Dialect::Gemini, "s"};
  using Kind = StreamEvent::Kind;
  builder.take({.kind = Kind::PartStarted, .part = 1});
  for (const std::uint32_t part : {0U, 7U}) {
    for (const Kind kind : {Kind::TextDelta, Kind::StateDelta, Kind::ArgumentsDelta, Kind::PartFinished}) {
      builder.take({.kind = kind, .part = part, .text = "x", .state = &state});
    }
  }
  builder.take({.kind = Kind::TextDelta, .part = 1, .text = "good"});
  ASSERT_EQ(builder.answer().choices.size(), 1U);
  EXPECT_EQ(builder.answer().choices[0].parts[0].as<TextPart>()->text, "good");
}

TEST(AnswerBuilder, BuildsTheAnswerAgainFromItsEvents) {
  const ChatAnswer answer = an_answer();
  AnswerBuilder builder(answer.dialect);
  for_each_event(answer, [&](const StreamEvent& event) { builder.take(event); });
  const ChatAnswer& built = builder.answer();
  EXPECT_TRUE(builder.ended());
  EXPECT_EQ(built.id, "a1");
  EXPECT_EQ(built.created, 7);
  EXPECT_EQ(built.usage, answer.usage);
  ASSERT_EQ(built.choices.size(), 2U);
  const Choice& choice = built.choices[0];
  ASSERT_EQ(choice.parts.size(), 4U);
  EXPECT_EQ(choice.parts[0].as<ReasoningPart>()->text, "Think.");
  EXPECT_EQ(choice.parts[0].state, (OpaqueState{Dialect::Anthropic, "sig"}));
  EXPECT_EQ(choice.parts[1].as<TextPart>()->citations.at(0), R"({"c":1})");
  EXPECT_EQ(choice.parts[2].as<ToolCallPart>()->arguments, R"({"x":1})");
  EXPECT_EQ(choice.parts[3].as<MediaPart>()->data, "AAAA");
  EXPECT_EQ(choice.finish, Finish::ToolCalls);
  EXPECT_EQ(choice.logprobs, answer.choices[0].logprobs);
  EXPECT_EQ(built.choices[1].stop_string, "END");
}

TEST(AnswerBuilder, ACallsStateComesBeforeItsArguments) {
  ChatAnswer answer;
  Part call(ToolCallPart{.id = "a", .name = "f", .arguments = "{}"});
  call.state = {Dialect::Gemini, "sig"};
  answer.choices.push_back({.parts = {call}, .finish_word = {}, .stop_string = {}, .logprobs = {}});
  std::vector<StreamEvent::Kind> kinds;
  for_each_event(answer, [&](const StreamEvent& event) { kinds.push_back(event.kind); });
  using Kind = StreamEvent::Kind;
  EXPECT_EQ(kinds, (std::vector{Kind::Started, Kind::PartStarted, Kind::StateDelta, Kind::ArgumentsDelta,
                                Kind::PartFinished, Kind::UsageSoFar, Kind::End}));
}

TEST(AnswerBuilder, JoinsThePiecesOfParallelCallsAndLogprobs) {
  using Kind = StreamEvent::Kind;
  AnswerBuilder builder(Dialect::OpenAiChat);
  builder.take({.kind = Kind::Started});
  builder.take(
      {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 0, .id = "a", .name = "f"});
  builder.take(
      {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 1, .id = "b", .name = "g"});
  builder.take({.kind = Kind::ArgumentsDelta, .part = 1, .text = "{"});
  builder.take({.kind = Kind::ArgumentsDelta, .part = 0, .text = "{}"});
  builder.take({.kind = Kind::ArgumentsDelta, .part = 1, .text = "}"});
  builder.take({.kind = Kind::Logprobs, .json = "[1]"});
  builder.take({.kind = Kind::Logprobs, .json = "[]"});
  builder.take({.kind = Kind::Logprobs, .json = "[2,3]"});
  const Choice& choice = builder.answer().choices.at(0);
  EXPECT_EQ(choice.parts[0].as<ToolCallPart>()->arguments, "{}");
  EXPECT_EQ(choice.parts[1].as<ToolCallPart>()->arguments, "{}");
  EXPECT_EQ(choice.logprobs, "[1,2,3]");
  EXPECT_FALSE(builder.ended());
}

TEST(AnswerBuilder, UsageIsReplacedAndNeverSummed) {
  AnswerBuilder builder(Dialect::Gemini);
  Usage first;
  first.output_text = 5;
  Usage second;
  second.output_text = 9;
  builder.take({.kind = StreamEvent::Kind::UsageSoFar, .usage = &first});
  builder.take({.kind = StreamEvent::Kind::UsageSoFar, .usage = &second});
  EXPECT_EQ(builder.answer().usage.output_text, 9);
}

}  // namespace
}  // namespace qq::model
