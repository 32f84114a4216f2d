// What clients get: whole answers, events and the array, errors, counts and lists.
#include <fakes/gemini.h>

#include <array>

#include "dialects/carried_state.h"
#include "dialects/gemini/count_tokens.h"

namespace qq::dialects::gemini {
namespace {

using model::PartKind;
using model::StreamEvent;
using Kind = StreamEvent::Kind;

constexpr std::string_view kTail = R"("modelVersion":"asked","responseId":"req")";

struct EncoderTest : ::testing::Test {
  void start(bool array = false, bool thoughts = false) {
    if (thoughts) request.reasoning.emplace().show = true;
    head = {.model = "asked", .request_id = "req", .array_stream = array};
    encoder = client_side().stream_encoder(request, head);
    take({.kind = Kind::Started, .id = "chatcmpl-1"});
  }
  // What the event adds.
  std::string take(const StreamEvent& event) {
    std::string out;
    encoder->encode(event, out);
    return out;
  }
  static std::string chunk(std::string_view members) {
    return "data: {" + std::string(members) + (members.empty() ? "" : ",") + std::string(kTail) + "}\r\n\r\n";
  }
  static std::string part(std::string_view json) {
    return chunk(R"("candidates":[{"index":0,"content":{"parts":[)" + std::string(json) +
                 R"(],"role":"model"}}])");
  }
  model::ChatRequest request;
  AnswerHead head;
  std::unique_ptr<StreamEncoder> encoder;
};
using GeminiEncoder = EncoderTest;

TEST_F(GeminiEncoder, TextLeavesAtOnceAndTheEndHasReasonAndUsage) {
  start();
  EXPECT_EQ(take({.kind = Kind::PartStarted}), "");
  EXPECT_EQ(take({.kind = Kind::TextDelta, .text = "a\"b"}), part(R"({"text":"a\"b"})"));
  EXPECT_EQ(take({.kind = Kind::PartFinished}), "");
  EXPECT_EQ(take({.kind = Kind::Finished, .finish = model::Finish::Length, .word = "length"}), "");
  const model::Usage usage{.input_uncached = 3, .cache_read = 4, .output_text = 5, .reasoning = 6};
  EXPECT_EQ(take({.kind = Kind::UsageSoFar, .usage = &usage}), "");
  EXPECT_EQ(take({.kind = Kind::End}),
            "data: "
            "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":"
            "\"MAX_TOKENS\",\"index\":0}],"
            "\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":5,\"totalTokenCount\":18,"
            "\"cachedContentTokenCount\":4,\"thoughtsTokenCount\":6}," +
                std::string(kTail) + "}\r\n\r\n");
}

TEST_F(GeminiEncoder, CallsAreCollectedUntilTheyAreWhole) {
  start();
  EXPECT_EQ(take({.kind = Kind::PartStarted,
                  .part_kind = PartKind::ToolCall,
                  .part = 0,
                  .id = "call_1",
                  .name = "f"}),
            "");
  EXPECT_EQ(take({.kind = Kind::PartStarted,
                  .part_kind = PartKind::ToolCall,
                  .part = 1,
                  .id = "call_2",
                  .name = "g"}),
            "");
  EXPECT_EQ(take({.kind = Kind::ArgumentsDelta, .part = 0, .text = "{\"a\""}), "");
  EXPECT_EQ(take({.kind = Kind::ArgumentsDelta, .part = 0, .text = ":1}"}), "");
  const model::OpaqueState state{model::Dialect::Gemini, "sig"};
  EXPECT_EQ(take({.kind = Kind::StateDelta, .part = 0, .state = &state}), "");
  EXPECT_EQ(take({.kind = Kind::PartFinished, .part = 1}),
            part(R"({"functionCall":{"id":"call_2","name":"g","args":{}},"thoughtSignature":")" +
                 no_state_field(model::Dialect::OpenAiChat) + R"("})"));
  EXPECT_EQ(take({.kind = Kind::PartFinished, .part = 0}),
            part(R"({"functionCall":{"id":"call_1","name":"f","args":{"a":1}},"thoughtSignature":"sig"})"));
}

TEST_F(GeminiEncoder, ThoughtsAreShownToThoseWhoAsked) {
  start(false, true);
  take({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning});
  EXPECT_EQ(take({.kind = Kind::TextDelta, .text = "hm"}), part(R"({"text":"hm","thought":true})"));
  const model::OpaqueState state{model::Dialect::Gemini, "sig"};
  EXPECT_EQ(take({.kind = Kind::StateDelta, .state = &state}),
            part(R"({"text":"","thought":true,"thoughtSignature":"sig"})"));
}

TEST_F(GeminiEncoder, ThoughtsOfOthersTravelWithTheNextCall) {
  start();
  const model::OpaqueState state{model::Dialect::Anthropic, "sig"};
  EXPECT_EQ(take({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning}), "");
  EXPECT_EQ(take({.kind = Kind::TextDelta, .text = "hm"}), "");
  EXPECT_EQ(take({.kind = Kind::StateDelta, .state = &state}), "");
  EXPECT_EQ(take({.kind = Kind::PartFinished}), "");
  take({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 1, .id = "t", .name = "f"});
  const std::string made = take({.kind = Kind::PartFinished, .part = 1});
  const std::size_t at = made.find("\"id\":\"") + 6;
  const CarriedId id = take_carried(made.substr(at, made.find('"', at) - at));
  EXPECT_EQ(id.id, "t");
  ASSERT_EQ(id.carried.reasoning.size(), 1U);
  EXPECT_EQ(qq::testing::describe(id.carried.reasoning[0]), "reasoning \"hm\" state anthropic:sig");
}

TEST_F(GeminiEncoder, MediaAndGooglesOwnPartsAreWhole) {
  start();
  take({.kind = Kind::PartStarted, .part_kind = PartKind::Media});
  EXPECT_EQ(take({.kind = Kind::MediaDelta, .text = "AA", .media_type = "image/png"}), "");
  take({.kind = Kind::MediaDelta, .text = "=="});
  EXPECT_EQ(take({.kind = Kind::PartFinished}),
            part(R"({"inlineData":{"mimeType":"image/png","data":"AA=="}})"));
  take({.kind = Kind::PartStarted, .part_kind = PartKind::Opaque, .part = 1, .word = "executableCode"});
  EXPECT_EQ(take({.kind = Kind::OpaqueDelta, .part = 1, .json = R"({"executableCode":{"code":"1"}})"}),
            part(R"({"executableCode":{"code":"1"}})"));
  EXPECT_EQ(take({.kind = Kind::OpaqueDelta, .part = 1, .json = R"({"type":"server_tool_use"})"}), "");
}

TEST_F(GeminiEncoder, ArrayFormIsOneJsonDocument) {
  start(true);
  std::string all;
  take({.kind = Kind::PartStarted});
  all += take({.kind = Kind::TextDelta, .text = "a"});
  all += take({.kind = Kind::Ping});
  all += take({.kind = Kind::TextDelta, .text = "b"});
  all += take({.kind = Kind::PartFinished});
  all += take({.kind = Kind::Finished, .finish = model::Finish::Stop});
  all += take({.kind = Kind::End});
  EXPECT_FALSE(wire::check_json(all)) << all;
  EXPECT_EQ(testing::stream(all).events,
            "started\n0.0 text\n0.0 + \"ab\"\n0.0 done\n0 finished stop (STOP)\nend\n");
  start(true);
  all = take({.kind = Kind::End});
  EXPECT_FALSE(wire::check_json(all)) << all;
}

TEST_F(GeminiEncoder, ArrayFormBreaksOffWithAnElement) {
  start(true);
  take({.kind = Kind::PartStarted});
  std::string all = take({.kind = Kind::TextDelta, .text = "a"});
  const Error error = Error::upstream(ErrorKind::Overloaded, AttemptPhase::ReplyBegun, "busy");
  all += take({.kind = Kind::Failed, .error = &error});
  EXPECT_FALSE(wire::check_json(all)) << all;
  EXPECT_NE(testing::stream(all).events.find("failed stream_error busy"), std::string::npos) << all;
}

// The chats of Google's JavaScript SDK forget a turn of which one response has no part.
TEST_F(GeminiEncoder, EachResponseHasAPart) {
  start();
  const auto has_part = [](std::string_view event) {
    const wire::JsonValue response(event.substr(6));
    const auto candidates = response.member("candidates");
    wire::JsonElements each(candidates ? *candidates : wire::JsonValue());
    if (!each.next()) return false;
    const auto parts = each.value().at("content", "parts");
    return parts && wire::JsonElements(*parts).next();
  };
  take({.kind = Kind::PartStarted});
  EXPECT_TRUE(has_part(take({.kind = Kind::TextDelta, .text = "a"})));
  EXPECT_TRUE(has_part(take({.kind = Kind::CitationDelta, .json = R"({"groundingMetadata":{"a":1}})"})));
  EXPECT_TRUE(has_part(take({.kind = Kind::Logprobs, .json = "[]"})));
  EXPECT_TRUE(has_part(take({.kind = Kind::Ping})));
  take({.kind = Kind::PartFinished});
  take({.kind = Kind::Finished, .finish = model::Finish::Stop});
  EXPECT_TRUE(has_part(take({.kind = Kind::End})));
}

TEST_F(GeminiEncoder, HeartbeatIsAResponseThatSaysNothing) {
  start();
  EXPECT_EQ(take({.kind = Kind::Ping}), client_side().heartbeat());
  EXPECT_EQ(testing::stream(std::string(client_side().heartbeat())).events.substr(0, 15), "started\nfailed ");
}

TEST(GeminiErrors, HaveStatusCodeAndDetails) {
  const auto told = [](const Error& error) {
    const EncodedError made = client_side().encode_error(error, "req");
    return std::to_string(made.status) + " " + made.body;
  };
  EXPECT_EQ(
      told(Error::client(ErrorKind::InvalidRequest, "wrong", "contents[0]")),
      R"(400 {"error":{"code":400,"message":"wrong","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest",)"
      R"("fieldViolations":[{"field":"contents[0]","description":"wrong"}]}]}})");
  EXPECT_EQ(
      told(Error::client(ErrorKind::Unauthorized, "no key")),
      R"(401 {"error":{"code":401,"message":"no key","status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
      R"("reason":"API_KEY_INVALID","domain":"googleapis.com"}]}})");
  Error limited = Error::upstream(ErrorKind::RateLimited, AttemptPhase::ReplyBegun, "slow down");
  limited.retry_after = std::chrono::milliseconds(1500);
  EXPECT_EQ(
      told(limited),
      R"(429 {"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]}})");
  EXPECT_EQ(told(Error::upstream(ErrorKind::CredentialDead, AttemptPhase::ReplyBegun, "key sk-1 is dead")),
            "503 {\"error\":{\"code\":503,\"message\":\"no provider of this model can be used at the moment; "
            "please try again later (request req)\",\"status\":\"UNAVAILABLE\"}}");
  EXPECT_EQ(
      told(Error::upstream(ErrorKind::FirstByteTimeout, AttemptPhase::SentNoReply, "late")),
      "504 {\"error\":{\"code\":504,\"message\":\"late (request req)\",\"status\":\"DEADLINE_EXCEEDED\"}}");
}

TEST(GeminiErrors, HandOnGooglesOwnObjectOnly) {
  Error error = Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "m");
  error.object = R"({"code":400,"message":"m","status":"FAILED_PRECONDITION","details":[1]})";
  EXPECT_EQ(client_side().encode_error(error, "req").body, "{\"error\":" + error.object + "}");
  error.object = R"({"message":"m","type":"invalid_request_error","code":null})";
  EXPECT_EQ(client_side().encode_error(error, "req").body,
            R"({"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}})");
}

TEST(GeminiErrors, InAStreamAreBareJsonOnOneLine) {
  Error error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, "m");
  error.object = "{\n \"code\":499,\n\n \"message\":\"m\",\"status\":\"CANCELLED\"}";
  std::string out;
  client_side().encode_stream_error(error, "req", out);
  EXPECT_EQ(out, "{\"error\":{  \"code\":499,   \"message\":\"m\",\"status\":\"CANCELLED\"}}\n");
  EXPECT_EQ(testing::stream("data: {}\r\n\r\n" + out).events, "started\nfailed stream_error m\n");
}

TEST(GeminiWholeAnswer, OfAnotherDialectIsWrittenInThisOne) {
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::OpenAiChat;
  answer.id = "chatcmpl-1";
  answer.model = "gpt";
  answer.usage = {.input_uncached = 1, .audio_input = 2, .output_text = 3};
  model::Choice& choice = answer.choices.emplace_back();
  choice.parts.emplace_back(model::TextPart{.text = "hi", .citations = {R"({"type":"url_citation"})"}});
  choice.parts.emplace_back(model::ToolCallPart{.id = "c", .name = "f", .arguments = "oops"});
  choice.parts.emplace_back(model::RefusalPart{.text = "no"});
  choice.finish = model::Finish::ToolCalls;
  choice.finish_word = "tool_calls";
  choice.logprobs =
      R"([{"token":"hi","logprob":-1,"bytes":null,"top_logprobs":[{"token":"x","logprob":-2}]}])";
  Losses losses;
  EXPECT_EQ(
      client_side().encode_answer(answer, {}, {.model = "asked", .request_id = "req"}, losses),
      R"({"candidates":[{"content":{"parts":[{"text":"hi"},{"functionCall":{"id":"c","name":"f","args":{"arguments":"oops"}},"thoughtSignature":")" +
          no_state_field(answer.dialect) +
          R"("},{"text":"no"}],"role":"model"},)"
          R"("finishReason":"STOP","index":0,"logprobsResult":{"chosenCandidates":[{"token":"hi","logProbability":-1}],)"
          R"("topCandidates":[{"candidates":[{"token":"x","logProbability":-2}]}]}}],)"
          R"("usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":3,"totalTokenCount":6,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1},{"modality":"AUDIO","tokenCount":2}]},)"
          R"("modelVersion":"asked","responseId":"req"})");
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].field, "citations");
}

TEST(GeminiWholeAnswer, OfABlockedPromptHasNoCandidates) {
  const auto answer =
      provider_side().decode_answer(R"({"promptFeedback":{"blockReason":"SAFETY"}})", testing::target(), "s");
  ASSERT_TRUE(answer);
  Losses losses;
  EXPECT_EQ(client_side().encode_answer(*answer, {}, {.model = "asked", .request_id = "req"}, losses),
            R"({"promptFeedback":{"blockReason":"SAFETY"},"modelVersion":"asked","responseId":"req"})");
}

TEST(GeminiCountTokens, RequestsAndAnswers) {
  const auto bare = decode_count_request(R"({"contents":[{"parts":[{"text":"q"}]}]})", {.path_model = "m"});
  const auto inside = decode_count_request(
      R"({"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"q"}]}]}})", {});
  ASSERT_TRUE(bare && inside);
  EXPECT_EQ(qq::testing::describe(*bare), qq::testing::describe(*inside));
  EXPECT_FALSE(decode_count_request("{", {}));
  EXPECT_EQ(encode_count_answer(7), R"({"totalTokens":7})");
  Losses losses;
  EXPECT_EQ(
      encode_count_request(*bare, testing::target(), losses)->body,
      R"({"generateContentRequest":{"model":"models/gemini-2.5-flash","contents":[{"role":"user","parts":[{"text":"q"}]}]}})");
  EXPECT_EQ(encode_count_request(*bare, testing::target("m", "vertex"), losses)->body,
            R"({"contents":[{"role":"user","parts":[{"text":"q"}]}]})");
  EXPECT_EQ(decode_count_answer(R"({"totalTokens":8,"promptTokensDetails":[]})").value(), 8);
  EXPECT_EQ(decode_count_answer(R"({"error":{"message":"m"}})").error().kind, ErrorKind::StreamError);
  EXPECT_EQ(decode_count_answer("{}").error().kind, ErrorKind::EmptyReply);
  EXPECT_EQ(decode_count_answer("x").error().kind, ErrorKind::BadJson);
}

TEST(GeminiModels, AreListed) {
  const std::array<model::ListedModel, 2> models{
      {{.name = "a", .context_tokens = {}, .can = {}}, {.name = "b", .context_tokens = {}, .can = {}}}};
  const std::string one =
      R"(","supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]})";
  EXPECT_EQ(encode_models(models), R"({"models":[{"name":"models/a","displayName":"a)" + one +
                                       R"(,{"name":"models/b","displayName":"b)" + one + "]}");
  EXPECT_EQ(encode_model(models[0]), R"({"name":"models/a","displayName":"a)" + one);
  EXPECT_EQ(encode_model({.name = "a", .context_tokens = 1'000, .can = {"tools"}}).substr(0, 81),
            R"({"name":"models/a","displayName":"a","inputTokenLimit":1000,"thinking":false,"sup)");
}

TEST_F(GeminiEncoder, WhatBelongsToNoPartIsNotTold) {
  start();
  const model::OpaqueState state{model::Dialect::Gemini, "s"};
  for (const Kind kind :
       {Kind::TextDelta, Kind::ArgumentsDelta, Kind::StateDelta, Kind::MediaDelta, Kind::PartFinished}) {
    EXPECT_EQ(take({.kind = kind, .part = 7, .text = "x", .state = &state}), "");
  }
}

TEST_F(GeminiEncoder, ACallThatNobodySignedSaysWhoseItIs) {
  start();
  take({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "c1", .name = "f"});
  const std::string told = take({.kind = Kind::PartFinished});
  EXPECT_NE(told.find(R"("thoughtSignature":")" + no_state_field(model::Dialect::OpenAiChat) + "\""),
            std::string::npos)
      << told;
}

}  // namespace
}  // namespace qq::dialects::gemini
