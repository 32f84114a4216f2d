#include <fakes/neutral.h>

#include "dialects/carried_state.h"
#include "dialects/openai_responses/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {
namespace {

constexpr AnswerHead kHead{.model = "asked", .request_id = "01REQ", .now = 7};

model::ChatAnswer answer_of(std::vector<model::Part> parts, model::Finish finish = model::Finish::Stop) {
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::Anthropic;
  answer.choices.push_back({.parts = std::move(parts), .finish = finish});
  return answer;
}

std::string encoded(const model::ChatAnswer& answer, Losses& losses, const model::ChatRequest& request = {}) {
  std::string body = client_side().encode_answer(answer, request, kHead, losses);
  EXPECT_FALSE(wire::check_json(body)) << body;
  return body;
}

std::string status_of(const std::string& body) {
  const wire::JsonValue document(body);
  const auto reason = document.at("incomplete_details", "reason");
  return document.member("status")->string() + (reason ? " " + reason->string() : "");
}

Result<model::ChatAnswer> decoded(std::string_view body) {
  return provider_side().decode_answer(body, {}, "seed");
}

TEST(ResponsesAnswer, HoldsEveryMemberThatSdksRequire) {
  Losses losses;
  const std::string body = encoded(answer_of({model::Part(model::TextPart{"hi", {}})}), losses);
  const wire::JsonValue document(body);
  for (const std::string_view key : {"id",
                                     "object",
                                     "created_at",
                                     "status",
                                     "error",
                                     "incomplete_details",
                                     "instructions",
                                     "metadata",
                                     "model",
                                     "output",
                                     "parallel_tool_calls",
                                     "temperature",
                                     "tool_choice",
                                     "tools",
                                     "top_p",
                                     "max_output_tokens",
                                     "previous_response_id",
                                     "reasoning",
                                     "text",
                                     "truncation",
                                     "usage",
                                     "user",
                                     "store",
                                     "background"}) {
    EXPECT_TRUE(document.member(key)) << key;
  }
  EXPECT_EQ(document.member("id")->string(), "resp_01REQ");
  EXPECT_EQ(document.member("model")->string(), "asked");
  EXPECT_EQ(document.member("created_at")->integer(), 7);
  EXPECT_EQ(document.member("output")->text(),
            R"([{"id":"msg_01REQ_0","type":"message","status":"completed","role":"assistant","content":[)"
            R"({"type":"output_text","annotations":[],"logprobs":[],"text":"hi"}]}])");
}

TEST(ResponsesAnswer, EndsInThisDialectsWords) {
  using model::Finish;
  const std::pair<Finish, std::string_view> cases[] = {{Finish::Stop, "completed"},
                                                       {Finish::StopString, "completed"},
                                                       {Finish::ToolCalls, "completed"},
                                                       {Finish::Length, "incomplete max_output_tokens"},
                                                       {Finish::Filtered, "incomplete content_filter"},
                                                       {Finish::Refusal, "incomplete content_filter"},
                                                       {Finish::Broken, "failed"}};
  for (const auto& [finish, status] : cases) {
    Losses losses;
    EXPECT_EQ(status_of(encoded(answer_of({model::Part(model::TextPart{"hi", {}})}, finish), losses)),
              status);
  }
  Losses losses;
  EXPECT_EQ(
      status_of(encoded(answer_of({model::Part(model::RefusalPart{"no"})}, model::Finish::Refusal), losses)),
      "completed");
}

TEST(ResponsesAnswer, StatesTravelInTheirPlaces) {
  model::Part thought(model::ReasoningPart{.text = "hm"});
  thought.state = {model::Dialect::Anthropic, "S"};
  model::Part call(model::ToolCallPart{.id = "toolu_1", .name = "f", .arguments = "{}"});
  call.state = {model::Dialect::Gemini, "G"};
  Losses losses;
  model::ChatRequest request;
  request.reasoning = model::ReasoningWish{.show = true};
  const std::string body = encoded(answer_of({thought, call}, model::Finish::ToolCalls), losses, request);
  EXPECT_TRUE(losses.empty());
  EXPECT_NE(body.find(R"("summary":[{"type":"summary_text","text":"hm"}])"), std::string::npos) << body;
  const auto again = decoded(body);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->choices[0].parts[0].state, thought.state);
  EXPECT_EQ(again->choices[0].parts[0].as<model::ReasoningPart>()->kind, model::ReasoningPart::Kind::Full);
  EXPECT_EQ(again->choices[0].parts[1].state, call.state);
  EXPECT_EQ(again->choices[0].parts[1].as<model::ToolCallPart>()->id, "toolu_1");
}

TEST(ResponsesAnswer, WhatHasNoPlaceIsALoss) {
  auto answer = answer_of({model::Part(model::TextPart{"hi", {"{}"}}),
                           model::Part(model::OpaquePart{model::Dialect::Anthropic, "server_tool_use", "{}"}),
                           model::Part(model::MediaPart{.kind = model::MediaPart::Kind::Audio}),
                           model::Part(model::MediaPart{.data = "AAAA"})});
  answer.choices.push_back({.index = 1});
  Losses losses;
  const std::string body = encoded(answer, losses);
  EXPECT_EQ(losses.size(), 4U);
  EXPECT_NE(body.find(R"("type":"image_generation_call","status":"completed","result":"AAAA")"),
            std::string::npos);
}

TEST(ResponsesAnswer, UsageHasThisDialectsTotals) {
  auto answer = answer_of({model::Part(model::TextPart{"hi", {}})});
  answer.usage = {.input_uncached = 10,
                  .cache_read = 5,
                  .cache_write = 3,
                  .output_text = 7,
                  .reasoning = 4,
                  .source = model::UsageSource::Provider};
  Losses losses;
  EXPECT_EQ(
      wire::JsonValue(encoded(answer, losses)).member("usage")->text(),
      R"({"input_tokens":18,"input_tokens_details":{"cached_tokens":5,"cache_write_tokens":3},"output_tokens":11,)"
      R"("output_tokens_details":{"reasoning_tokens":4},"total_tokens":29})");
}

TEST(ResponsesAnswer, OddBodiesAreRead) {
  // Keep-alive blanks, a byte order mark, a time with a fraction, a status that is none.
  for (const std::string_view before : {"", "\n         \n\n", "\xef\xbb\xbf"}) {
    const std::string body =
        std::string(before) +
        R"({"id":"","created_at":1787150055.0,"status":"complete","model":null,"output":[{"type":"message","role":"assistant",
            "content":[{"type":"output_text","text":"4"}]},{"type":"function_call","call_id":"","name":"f"}]})";
    const auto answer = decoded(body);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->created, 1787150055);
    EXPECT_EQ(answer->choices[0].parts.size(), 2U);
  }
  const auto broken = decoded(R"({"status":"completed","output":[{"type":"function_call","arguments":{}},
    {"type":"message","role":"assistant","content":"x"}]})");
  ASSERT_TRUE(broken);
  EXPECT_NE(broken->choices[0].parts[0].as<model::OpaquePart>(), nullptr)
      << "what does not fit stays as it is";
}

TEST(ResponsesAnswer, FaultsAreErrors) {
  const std::pair<std::string_view, ErrorKind> cases[] = {
      {"", ErrorKind::EmptyReply},
      {"<html>", ErrorKind::BadJson},
      {"[]", ErrorKind::BadJson},
      {R"({"error":{"message":"no","code":"c"}})", ErrorKind::StreamError},
      {R"({"code":"invalid-argument","error":"TEXT"})", ErrorKind::StreamError},
      {R"({"status":"failed","error":{"code":"server_error","message":"no"},"output":[]})",
       ErrorKind::StreamError},
      {R"({"status":"cancelled","output":[]})", ErrorKind::StreamError},
      {R"({"status":"completed","output":[]})", ErrorKind::EmptyReply},
      {R"({"status":"completed","output":[{"type":"message","role":"assistant","content":[]}]})",
       ErrorKind::EmptyReply},
  };
  for (const auto& [body, kind] : cases) {
    const auto answer = decoded(body);
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().kind, kind) << body;
  }
  EXPECT_TRUE(
      decoded(R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})"));
  EXPECT_TRUE(decoded(R"({"status":"queued","output":[]})")) << "a background answer has nothing yet";
}

TEST(ResponsesAnswer, ErrorsAreOpenAis) {
  const auto encoded_error =
      client_side().encode_error(Error::client(ErrorKind::InvalidRequest, "wrong", "input[0]"), "01REQ");
  EXPECT_EQ(encoded_error.status, 400);
  EXPECT_EQ(encoded_error.body,
            R"({"error":{"message":"wrong","type":"invalid_request_error","param":"input[0]","code":null}})");
  std::string out;
  client_side().encode_stream_error(Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut"),
                                    "01REQ", out);
  EXPECT_TRUE(out.starts_with("event: error\ndata: {\"type\":\"error\",\"code\":\"upstream_stream_cut\","))
      << out;
  EXPECT_NE(
      out.find(
          "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"resp_01REQ\""),
      std::string::npos)
      << out;
}

TEST(ResponsesAnswer, ACallWithoutAnIdGetsOneAsInAStream) {
  const auto answer =
      decoded(R"({"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{}"},)"
              R"({"type":"custom_tool_call","name":"g","input":"x"}]})");
  ASSERT_TRUE(answer);
  const auto& parts = answer->choices[0].parts;
  ASSERT_EQ(parts.size(), 2U);
  const auto* first = parts[0].as<model::ToolCallPart>();
  const auto* second = parts[1].as<model::ToolCallPart>();
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_TRUE(first->id.starts_with("call_")) << first->id;
  EXPECT_NE(first->id, second->id);
  EXPECT_EQ(first->id, decoded(R"({"status":"completed","output":[{"type":"function_call","name":"f"}]})")
                           ->choices[0]
                           .parts[0]
                           .as<model::ToolCallPart>()
                           ->id)
      << "the same every time";
}

TEST(ResponsesAnswer, AThoughtThatNobodySignedSaysWhoseItIs) {
  Losses losses;
  model::ChatAnswer answer = answer_of({model::Part(model::ReasoningPart{.text = "hm"})});
  const std::string field = R"("encrypted_content":")" + no_state_field(answer.dialect) + "\"";
  EXPECT_NE(encoded(answer, losses).find(field), std::string::npos);
  answer.dialect = model::Dialect::OpenAiResponses;
  EXPECT_EQ(encoded(answer, losses).find("encrypted_content"), std::string::npos);
}

}  // namespace
}  // namespace qq::dialects::openai_responses
