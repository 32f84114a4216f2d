#include <fakes/aws_frames.h>
#include <fakes/neutral.h>

#include "dialects/bedrock/dialect.h"

namespace qq::dialects::bedrock {
namespace {

using qq::testing::aws_event;
using qq::testing::describe;

qq::testing::DecodedStream decoded(const std::string& body) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Bedrock, {}, body, body.size());
}
std::string delta(int index, const std::string& what) {
  return aws_event("contentBlockDelta", R"({"contentBlockIndex":)" + std::to_string(index) + R"(,"delta":)" +
                                            what + R"(,"p":"abc"})");
}
std::string stop(int index) {
  return aws_event("contentBlockStop", R"({"contentBlockIndex":)" + std::to_string(index) + "}");
}
std::string tool_start(int index, const std::string& start) {
  return aws_event("contentBlockStart",
                   R"({"contentBlockIndex":)" + std::to_string(index) + R"(,"start":)" + start + "}");
}
const std::string kBegin = aws_event("messageStart", R"({"role":"assistant"})");
std::string end(const std::string& reason) {
  return aws_event("messageStop", R"({"stopReason":")" + reason + R"("})") +
         aws_event("metadata",
                   R"({"usage":{"inputTokens":3,"outputTokens":5,"cacheReadInputTokens":2,)"
                   R"("cacheWriteInputTokens":9,"cacheDetails":[{"ttl":"1h","inputTokens":4}]}})");
}

TEST(BedrockStream, TextsAndThoughtsBeginWithTheirFirstPiece) {
  const auto stream = decoded(kBegin + delta(0, R"({"reasoningContent":{"text":"Hm"}})") +
                              delta(0, R"({"reasoningContent":{"text":"m."}})") +
                              delta(0, R"({"reasoningContent":{"signature":"si"}})") +
                              delta(0, R"({"reasoningContent":{"signature":"g"}})") + stop(0) +
                              delta(1, R"({"text":"Hel\"lo"})") + stop(1) + end("end_turn"));
  EXPECT_EQ(stream.events,
            "started\n0.0 reasoning\n0.0 + \"Hmm.\"\n0.0 state sig\n0.0 done\n"
            "0.1 text\n0.1 + \"Hel\"lo\"\n0.1 done\n0 finished stop (end_turn)\n"
            "usage uncached=3 read=2 write=5 write_1h=4 text=5\nend\n");
  EXPECT_EQ(stream.answer.choices.at(0).parts.at(0).state.maker, model::Dialect::Bedrock);
}

TEST(BedrockStream, CallsComeInPiecesAndMayHaveNone) {
  const auto stream =
      decoded(kBegin + tool_start(0, R"({"toolUse":{"toolUseId":"a","name":"f"}})") +
              delta(0, R"({"toolUse":{"input":""}})") + delta(0, R"({"toolUse":{"input":"{\"x\":"}})") +
              delta(0, R"({"toolUse":{"input":"1}"}})") + stop(0) +
              tool_start(1, R"({"toolUse":{"toolUseId":"b","name":"g","type":"tool_use"}})") + stop(1) +
              end("tool_use"));
  EXPECT_EQ(stream.events.substr(0, stream.events.find("usage")),
            "started\n0.0 call a f\n0.0 args \"{\"x\":1}\"\n0.0 done\n0.1 call b g\n0.1 done\n"
            "0 finished tool_calls (tool_use)\n");
}

TEST(BedrockStream, OwnToolsAreWholeOpaqueParts) {
  const auto stream = decoded(
      kBegin + tool_start(0, R"({"toolUse":{"toolUseId":"a","name":"code","type":"server_tool_use"}})") +
      delta(0, R"({"toolUse":{"input":"{\"s\":1}"}})") + stop(0) +
      tool_start(1, R"({"toolResult":{"toolUseId":"a","status":"success"}})") +
      delta(1, R"({"toolResult":[{"json":{"out":2}}]})") + stop(1) + delta(2, R"({"text":"2"})") + stop(2) +
      end("end_turn"));
  EXPECT_EQ(
      stream.events.substr(0, stream.events.find("0.2")),
      "started\n0.0 opaque toolUse\n"
      R"(0.0 opaque {"toolUse":{"toolUseId":"a","name":"code","type":"server_tool_use","input":{"s":1}}})"
      "\n0.0 done\n0.1 opaque toolResult\n"
      R"(0.1 opaque {"toolResult":{"toolUseId":"a","status":"success","content":[{"json":{"out":2}}]}})"
      "\n0.1 done\n");
  EXPECT_EQ(stream.answer.choices.at(0).parts.at(0).as<model::OpaquePart>()->dialect,
            model::Dialect::Bedrock);
}

TEST(BedrockStream, RedactedThoughtsAreTheirStateAlone) {
  const auto stream = decoded(kBegin + delta(0, R"({"reasoningContent":{"redactedContent":"QQ=="}})") +
                              delta(0, R"({"reasoningContent":{"redactedContent":"QkM="}})") + stop(0) +
                              delta(1, R"({"reasoningContent":{"signature":"only"}})") + stop(1) +
                              delta(2, R"({"text":"x"})") + stop(2) + end("end_turn"));
  const auto& parts = stream.answer.choices.at(0).parts;
  EXPECT_EQ(describe(parts.at(0)), "reasoning_redacted \"\" state bedrock:QUJD") << "ABC, in one blob";
  EXPECT_EQ(describe(parts.at(1)), "reasoning \"\" state bedrock:only");
}

TEST(BedrockStream, CitationsBelongToTheTextTheyStandIn) {
  const auto stream = decoded(kBegin + delta(0, R"({"text":"x"})") +
                              delta(0, R"({"citation":{"title":"t"}})") + stop(0) + end("end_turn"));
  EXPECT_EQ(stream.answer.choices.at(0).parts.at(0).as<model::TextPart>()->citations.at(0),
            R"({"title":"t"})");
}

TEST(BedrockStream, ExceptionsAreErrorsWithTheStatusTheyStandFor) {
  const auto exception = [](std::string_view type, std::string_view payload) {
    return qq::testing::aws_frame({{":exception-type", type}, {":message-type", "exception"}}, payload);
  };
  const auto throttled = decoded(
      kBegin + exception("throttlingException", R"({"message":"Too many requests"})") + end("end_turn"));
  ASSERT_TRUE(throttled.error);
  EXPECT_EQ(throttled.error->kind, ErrorKind::StreamError);
  EXPECT_EQ(throttled.error->message, "Too many requests");
  EXPECT_EQ(throttled.error->type, "throttlingException");
  EXPECT_EQ(throttled.error->code, "429");
  const auto broken =
      decoded(exception("modelStreamErrorException", R"({"Message":"m","originalStatusCode":500})"));
  EXPECT_EQ(broken.error->message, "m");
  EXPECT_EQ(broken.error->code, "500");
  const auto unmodeled = decoded(qq::testing::aws_frame(
      {{":message-type", "error"}, {":error-code", "InternalError"}, {":error-message", "sorry"}}, ""));
  EXPECT_EQ(unmodeled.error->message, "sorry");
}

TEST(BedrockStream, UsageMayBeMissingButTheEndMayNot) {
  EXPECT_TRUE(decoded(kBegin + delta(0, R"({"text":"x"})") + stop(0) +
                      aws_event("messageStop", R"({"stopReason":"max_tokens"})"))
                  .ended);
  const auto cut = decoded(kBegin + delta(0, R"({"text":"x"})"));
  ASSERT_TRUE(cut.error);
  EXPECT_EQ(cut.error->kind, ErrorKind::StreamCut);
  std::string flipped = kBegin;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);
  EXPECT_EQ(decoded(flipped).error->kind, ErrorKind::BadFrame);
  EXPECT_EQ(decoded(aws_event("messageStart", "{")).error->kind, ErrorKind::BadJson);
}

TEST(BedrockStream, APieceOfACallThatHasNotBegunIsAnError) {
  EXPECT_EQ(decoded(kBegin + delta(3, R"({"toolUse":{"input":"{"}})")).error->kind, ErrorKind::StreamError);
}

TEST(BedrockAnswer, ReadsEveryKindOfBlock) {
  const auto answer = provider_side().decode_answer(
      R"({"output":{"message":{"role":"assistant","content":[)"
      R"({"reasoningContent":{"reasoningText":{"text":"Hm","signature":"s"}}},)"
      R"({"reasoningContent":{"redactedContent":"QQ=="}},{"text":"Hi"},)"
      R"({"citationsContent":{"content":[{"text":"So"}],"citations":[{"title":"t"}]}},)"
      R"({"toolUse":{"toolUseId":"a","name":"f","input":{"x":1.0}}},)"
      R"({"toolUse":{"toolUseId":"b","name":"code","type":"server_tool_use","input":{}}},)"
      R"({"image":{"format":"png","source":{"bytes":"AAAA"}}},{"news":{"n":1}}]}},)"
      R"("stopReason":"guardrail_intervened","usage":{"inputTokens":1,"outputTokens":2},)"
      R"("serviceTier":{"type":"priority"},"trace":{"guardrail":{}},"performanceConfig":null})",
      {}, "seed");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(describe(*answer),
            "answer id= model= created=0 tier=priority +trace={\"guardrail\":{}}\n"
            "  choice 0 filtered (guardrail_intervened)\n"
            "    reasoning \"Hm\" state bedrock:s\n    reasoning_redacted \"\" state bedrock:QQ==\n"
            "    text \"Hi\"\n    text \"So\" citation {\"title\":\"t\"}\n    call a f {\"x\":1.0}\n"
            "    opaque bedrock toolUse {\"toolUse\":{\"toolUseId\":\"b\",\"name\":\"code\","
            "\"type\":\"server_tool_use\",\"input\":{}}}\n    image base64 \"AAAA\" image/png\n"
            "    opaque bedrock news {\"news\":{\"n\":1}}\n  usage uncached=1 text=2\n");
}

TEST(BedrockAnswer, WhatIsNoAnswerIsAnError) {
  const auto error_of = [](std::string_view body) {
    return provider_side().decode_answer(body, {}, "seed").error();
  };
  EXPECT_EQ(error_of(R"({"Message":"no"})").message, "no");
  EXPECT_EQ(error_of(R"({"message":"no"})").kind, ErrorKind::StreamError);
  EXPECT_EQ(error_of("{").kind, ErrorKind::BadJson);
  EXPECT_EQ(error_of("{}").kind, ErrorKind::EmptyReply);
  EXPECT_EQ(error_of(R"({"output":{"message":{"content":[{"text":" "}]}},"stopReason":"end_turn"})").kind,
            ErrorKind::EmptyReply);
  EXPECT_TRUE(provider_side().decode_answer(
      R"({"output":{"message":{"content":[]}},"stopReason":"max_tokens"})", {}, "seed"));
}

}  // namespace
}  // namespace qq::dialects::bedrock
