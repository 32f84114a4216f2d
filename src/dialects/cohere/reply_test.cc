#include <fakes/neutral.h>

#include "dialects/cohere/dialect.h"

namespace qq::dialects::cohere {
namespace {

using qq::testing::describe;

qq::testing::DecodedStream decoded(const std::string& body) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Cohere, {}, body, body.size());
}
std::string event(const std::string& type, const std::string& rest) {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (rest.empty() ? "" : ",") + rest + "}\n\n";
}
std::string message(const std::string& type, int index, const std::string& members) {
  return event(type, R"("index":)" + std::to_string(index) + R"(,"delta":{"message":{)" + members + "}}");
}
std::string words(int index, const std::string& piece) {
  return message("content-delta", index, R"("content":{"text":")" + piece + R"("})");
}
const std::string kBegin = event("message-start", R"("id":"m1","delta":{"message":{"role":"assistant"}})");
std::string end(const std::string& reason) {
  return event(
      "message-end",
      R"("delta":{"finish_reason":")" + reason +
          R"(","usage":{"billed_units":{"input_tokens":1,"output_tokens":1},)"
          R"("tokens":{"input_tokens":10,"output_tokens":7,"reasoning_tokens":3},"cached_tokens":4}})");
}
const std::string kUsage = "usage uncached=6 read=4 text=4 reasoning=3\n";

TEST(CohereStream, ThoughtsAndTextsArePartsOfTheirOwn) {
  const auto stream = decoded(
      kBegin + message("content-start", 0, R"("content":{"type":"thinking","thinking":""})") +
      message("content-delta", 0, R"("content":{"thinking":"Hm"})") + event("content-end", R"("index":0)") +
      message("content-start", 1, R"("content":{"type":"text","text":"He"})") + words(1, "llo") +
      event("content-end", R"("index":1)") + end("COMPLETE") + "data: [DONE]\n\n");
  EXPECT_EQ(stream.events, std::string("started\n0.0 reasoning\n0.0 + \"Hm\"\n0.0 done\n0.1 text\n"
                                       "0.1 + \"Hello\"\n") +
                               kUsage + "0.1 done\n0 finished stop (COMPLETE)\nend\n");
}

TEST(CohereStream, CitationsMayComeInsideATextAndBehindIt) {
  const std::string citation =
      R"("citations":{"start":0,"end":2,"text":"He","sources":[],"type":"TEXT_CONTENT"})";
  const auto stream = decoded(
      kBegin + message("content-start", 0, R"("content":{"type":"text","text":""})") + words(0, "He") +
      message("citation-start", 0, citation) + event("citation-end", R"("index":0)") + words(0, "llo") +
      event("content-end", R"("index":0)") + message("citation-start", 1, citation) +
      message("citation-start", 2, R"("citations":{"type":"PLAN"})") + end("STOP_SEQUENCE"));
  const auto& text = *stream.answer.choices.at(0).parts.at(0).as<model::TextPart>();
  EXPECT_EQ(text.text, "Hello");
  EXPECT_EQ(text.citations.size(), 2U);
  EXPECT_EQ(stream.answer.choices.at(0).finish, model::Finish::StopString);
}

TEST(CohereStream, ACitationThatComesTooLateIsNotOfTheNextText) {
  const auto cited = [](int content, const std::string& text) {
    return R"("citations":{"start":0,"end":1,"text":")" + text +
           R"(","type":"TEXT_CONTENT","content_index":)" + std::to_string(content) + "}";
  };
  const auto stream =
      decoded(kBegin + message("content-start", 0, R"("content":{"type":"text","text":"A"})") +
              event("content-end", R"("index":0)") + message("citation-start", 0, cited(0, "A")) +
              message("content-start", 1, R"("content":{"type":"text","text":"B"})") +
              message("citation-start", 1, cited(0, "A")) + message("citation-start", 2, cited(1, "B")) +
              end("COMPLETE"));
  const auto& parts = stream.answer.choices.at(0).parts;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].as<model::TextPart>()->citations.size(), 1U);
  ASSERT_EQ(parts[1].as<model::TextPart>()->citations.size(), 1U);
  EXPECT_NE(parts[1].as<model::TextPart>()->citations[0].find(R"("text":"B")"), std::string::npos);
}

TEST(CohereStream, APlanIsAThoughtThatGoesBack) {
  const std::string call =
      R"("tool_calls":{"id":"c1","type":"function","function":{"name":"f","arguments":""}})";
  const auto piece = [](const std::string& text) {
    return message("tool-call-delta", 0, R"("tool_calls":{"function":{"arguments":")" + text + R"("}})");
  };
  const auto stream =
      decoded(kBegin + message("tool-plan-delta", 0, R"("tool_plan":"I will ")") +
              message("tool-plan-delta", 0, R"("tool_plan":"ask.")") + message("tool-call-start", 0, call) +
              piece("{\\\"x\\\":") + piece("1}") + event("tool-call-end", R"("index":0)") + end("TOOL_CALL"));
  EXPECT_EQ(stream.events, std::string("started\n0.0 reasoning\n0.0 + \"I will ask.\"\n0.0 state tool_plan\n"
                                       "0.0 done\n0.1 call c1 f\n0.1 args \"{\"x\":1}\"\n0.1 done\n") +
                               kUsage + "0 finished tool_calls (TOOL_CALL)\nend\n");
}

TEST(CohereStream, ArgumentsThatAreNullAreNone) {
  const auto stream = decoded(
      kBegin + message("tool-call-start", 0, R"("tool_calls":{"function":{"name":"f","arguments":"null"}})") +
      event("tool-call-end", R"("index":0)") + end("TOOL_CALL"));
  const auto& call = *stream.answer.choices.at(0).parts.at(0).as<model::ToolCallPart>();
  EXPECT_EQ(call.arguments, "");
  EXPECT_TRUE(call.id.starts_with("call_"));
}

TEST(CohereStream, ErrorsAndCutsAreErrors) {
  EXPECT_EQ(decoded(kBegin + words(0, "x")).error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(decoded(kBegin + "data: {\"message\":\"too many\"}\n\n").error->message, "too many");
  EXPECT_EQ(decoded(kBegin + event("message-end", R"("delta":{"error":"broke","finish_reason":"ERROR"})"))
                .error->message,
            "broke");
  EXPECT_EQ(decoded(kBegin + "data: {\n\n").error->kind, ErrorKind::BadJson);
  EXPECT_EQ(decoded(kBegin + message("tool-call-delta", 2, R"("tool_calls":{"function":{"arguments":"{"}})"))
                .error->kind,
            ErrorKind::StreamError);
}

TEST(CohereAnswer, ReadsContentPlanCallsAndCitations) {
  const auto answer = provider_side().decode_answer(
      R"({"id":"a1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},)"
      R"({"type":"text","text":"A"},{"type":"text","text":"B"},{"type":"new","n":1}],"tool_plan":"Plan",)"
      R"("tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"null"}}],)"
      R"("citations":[{"start":0,"type":"TEXT_CONTENT","content_index":2},{"start":1},{"type":"PLAN"}]},)"
      R"("finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":2},"tokens":)"
      R"({"input_tokens":34,"output_tokens":56,"reasoning_tokens":0,"image_tokens":259},"cached_tokens":0}})",
      {}, "seed");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(
      describe(*answer),
      "answer id=a1 model= created=0 +usage.billed_units={\"input_tokens\":2}\n"
      "  choice 0 tool_calls (TOOL_CALL)\n    reasoning \"Hm\"\n    text \"A\" citation {\"start\":1}\n"
      "    text \"B\" citation {\"start\":0,\"type\":\"TEXT_CONTENT\",\"content_index\":2}\n"
      "    opaque cohere new {\"type\":\"new\",\"n\":1}\n    reasoning \"Plan\" state cohere:tool_plan\n"
      "    call c f {}\n  usage uncached=34 read=0 image_in=259 text=56 reasoning=0\n");
}

TEST(CohereAnswer, WhatIsNoAnswerIsAnError) {
  const auto error_of = [](std::string_view body) {
    return provider_side().decode_answer(body, {}, "seed").error();
  };
  EXPECT_EQ(error_of(R"({"id":"x","message":"no such model","error_type":"T"})").message, "no such model");
  EXPECT_EQ(error_of(R"({"id":"x","message":"m","error_type":"T"})").type, "T");
  EXPECT_EQ(error_of("[").kind, ErrorKind::BadJson);
  EXPECT_EQ(error_of("{}").kind, ErrorKind::EmptyReply);
  EXPECT_EQ(error_of(R"({"message":{"content":[]},"finish_reason":"COMPLETE"})").kind, ErrorKind::EmptyReply);
}

}  // namespace
}  // namespace qq::dialects::cohere
