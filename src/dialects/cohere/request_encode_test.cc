#include <fakes/asking.h>

#include "dialects/cohere/dialect.h"

namespace qq::dialects::cohere {
namespace {

using namespace qq::testing::asking;
using model::Role;
using Kind = model::MediaPart::Kind;
using Mode = model::ToolChoice::Mode;
using Source = model::MediaPart::Source;

Sent asked(const model::ChatRequest& request, bool reasons = true) {
  model::Target target;
  target.upstream_model = "command-a";
  target.reasons = reasons;
  return sent(provider_side(), request, target);
}
model::ChatRequest hello() {
  return request(turn(Role::User, text("Hello")));
}

TEST(CohereRequest, SaysTheConversationInMessages) {
  model::ChatRequest wish =
      request(turn(Role::Developer, text("Be brief.")), turn(Role::User, text("Weather?")),
              turn(Role::Assistant, thought("I will ask.", {model::Dialect::Cohere, "tool_plan"}),
                   call("a", "weather", "null")),
              turn(Role::User, result("a", "sunny"), text("Well?")));
  wish.stream = true;
  const Sent out = asked(wish);
  EXPECT_EQ(out.body,
            R"({"model":"command-a","stream":true,"messages":[)"
            R"({"role":"system","content":[{"type":"text","text":"Be brief."}]},)"
            R"({"role":"user","content":[{"type":"text","text":"Weather?"}]},)"
            R"({"role":"assistant","tool_plan":"I will ask.","tool_calls":[{"id":"a","type":"function",)"
            R"("function":{"name":"weather","arguments":"{}"}}]},)"
            R"({"role":"tool","tool_call_id":"a","content":"sunny"},)"
            R"({"role":"user","content":[{"type":"text","text":"Well?"}]}]})");
  EXPECT_EQ(out.losses, "");
}

TEST(CohereRequest, ThoughtsGoBackToModelsThatThink) {
  const model::ChatRequest wish =
      request(turn(Role::User, text("Go")), turn(Role::Assistant, thought("Hm."), text("Yes.")),
              turn(Role::User, text("And?")));
  EXPECT_NE(asked(wish).body.find(
                R"("content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Yes."}])"),
            std::string::npos);
  const Sent out = asked(wish, false);
  EXPECT_EQ(out.body.find("Hm."), std::string::npos);
  EXPECT_EQ(out.losses, "messages[].reasoning: the target has no such field\n");
}

TEST(CohereRequest, CallsInTurnsOfTheirOwnAreOneMessage) {
  const Sent out = asked(request(turn(Role::User, text("Go")), turn(Role::Assistant, call("", "f", "{}")),
                                 turn(Role::Assistant, call("", "g", "{}")),
                                 turn(Role::User, result("", "two", "g"), result("", "one", "f"))));
  EXPECT_NE(out.body.find(R"("tool_call_id":"call_1","content":"two")"), std::string::npos) << out.body;
  EXPECT_NE(out.body.find(R"("tool_call_id":"call_0","content":"one")"), std::string::npos) << out.body;
}

TEST(CohereRequest, ImagesAreUrlsAndFilesOfTextAreText) {
  const Sent out = asked(request(turn(Role::User, media(Kind::Image, "image/png", "AAAA"),
                                      media(Kind::Image, "", "https://x/y", Source::Url),
                                      media(Kind::File, "text/csv", "YSxi", Source::Base64, "t.csv"))));
  EXPECT_EQ(
      out.at("messages"),
      R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)"
      R"({"type":"image_url","image_url":{"url":"https://x/y"}},{"type":"text","text":"t.csv:\na,b"}]}])");
  EXPECT_EQ(out.losses, "messages[].content: the nearest that the target has\n");
  EXPECT_NE(asked(request(turn(Role::User, media(Kind::File, "application/pdf", "AAAA")))).refused, "");
  EXPECT_NE(asked(request(turn(Role::User, media(Kind::Image, "", "file-1", Source::FileId)))).refused, "");
}

TEST(CohereRequest, WhatAResultShowsFollowsInAMessage) {
  model::Part shown = result("a", "");
  shown.as<model::ToolResultPart>()->content = {media(Kind::Image, "image/png", "AAAA")};
  shown.as<model::ToolResultPart>()->is_error = true;
  const Sent out = asked(request(turn(Role::User, text("Go")), turn(Role::Assistant, call("a", "f", "{}")),
                                 turn(Role::User, std::move(shown))));
  EXPECT_NE(
      out.body.find(R"x("content":"(see the next message)"},{"role":"user","content":[{"type":"image_url")x"),
      std::string::npos)
      << out.body;
  EXPECT_EQ(out.losses,
            "is_error: the target has no such field\nmessages[].content: the nearest that the target has\n");
}

TEST(CohereRequest, AToolThatMustBeCalledIsSentAlone) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f"), tool("g")};
  wish.tools[1].strict = true;
  wish.tool_choice = choice(Mode::Required, {"g"});
  const Sent out = asked(wish);
  EXPECT_EQ(out.body.find(R"("name":"f")"), std::string::npos);
  EXPECT_EQ(out.at("tool_choice"), R"("REQUIRED")");
  EXPECT_EQ(out.at("strict_tools"), "true");
  EXPECT_EQ(out.losses, "");
  wish.tool_choice = choice(Mode::None);
  EXPECT_EQ(asked(wish).at("tool_choice"), R"("NONE")");
  EXPECT_EQ(asked(wish).losses, "tools[].function.strict: the nearest that the target has\n");
  wish.tool_choice = choice(Mode::Auto);
  EXPECT_EQ(asked(wish).at("tool_choice"), "");
}

TEST(CohereRequest, JsonGivesWayToTools) {
  model::ChatRequest wish = hello();
  wish.output.emplace();
  wish.output->kind = model::OutputFormat::Kind::JsonSchema;
  EXPECT_EQ(asked(wish).at("response_format"), R"({"type":"json_object"})") << "without the schema";
  wish.output->schema = R"({"type":"object"})";
  EXPECT_EQ(asked(wish).at("response_format"), R"({"type":"json_object","json_schema":{"type":"object"}})");
  wish.tools = {tool("f")};
  EXPECT_EQ(asked(wish).at("response_format"), "");
  EXPECT_EQ(asked(wish).losses,
            "response_format: the target refuses it together with something else that was asked for\n");
}

TEST(CohereRequest, SamplingStaysInCoheresRanges) {
  model::ChatRequest wish = hello();
  wish.sampling.max_output_tokens = 9;
  wish.sampling.temperature = 1.5;
  wish.sampling.top_p = 1.0;
  wish.sampling.top_k = 600;
  wish.sampling.frequency_penalty = -1;
  wish.sampling.presence_penalty = 0.5;
  wish.sampling.seed = 4;
  wish.sampling.stop = {"1", "2", "3", "4", "5", "6"};
  const Sent out = asked(wish);
  EXPECT_TRUE(out.body.ends_with(
      R"("max_tokens":9,"temperature":1,"p":0.99,"k":500,"frequency_penalty":0,"presence_penalty":0.5,)"
      R"("seed":4,"stop_sequences":["1","2","3","4","5"]})"))
      << out.body;
  EXPECT_EQ(std::ranges::count(out.losses, '\n'), 5);
}

TEST(CohereRequest, AToolsResultIsNeverEmpty) {
  const Sent out = asked(request(turn(Role::User, text("Hi")),
                                 turn(Role::Assistant, call("a", "f", "{}"), call("b", "f", "{}")),
                                 turn(Role::User, result("a", ""), result("b", " \n"))));
  EXPECT_NE(out.body.find(R"({"role":"tool","tool_call_id":"a","content":"."})"), std::string::npos)
      << out.body;
  EXPECT_NE(out.body.find(R"({"role":"tool","tool_call_id":"b","content":"."})"), std::string::npos)
      << out.body;
}

TEST(CohereRequest, ThinkingIsABudget) {
  model::ChatRequest wish = hello();
  wish.reasoning.emplace().effort = model::ReasoningWish::Effort::Low;
  EXPECT_EQ(asked(wish).at("thinking"), R"({"type":"enabled","token_budget":1024})");
  wish.reasoning->effort = model::ReasoningWish::Effort::High;
  EXPECT_EQ(asked(wish).at("thinking"), R"({"type":"enabled"})");
  EXPECT_EQ(asked(wish, false).at("thinking"), "");
  EXPECT_EQ(asked(wish, false).losses, "reasoning_effort: the target has no such field\n");
  wish.reasoning->effort = model::ReasoningWish::Effort::None;
  EXPECT_EQ(asked(wish).at("thinking"), R"({"type":"disabled"})");
  EXPECT_EQ(asked(wish, false).losses, "");
}

TEST(CohereRequest, SaysNoBlankTexts) {
  const Sent out = asked(request(
      turn(Role::System, text(" ")), turn(Role::User, text(""), text("Hi"), text("\n")),
      turn(Role::Assistant, text(" "), call("a", "f", "{}")), turn(Role::User, result("a", "r"), text(" "))));
  EXPECT_EQ(
      out.at("messages"),
      R"([{"role":"user","content":[{"type":"text","text":"Hi"}]},)"
      R"({"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"r"}])");
}

}  // namespace
}  // namespace qq::dialects::cohere
