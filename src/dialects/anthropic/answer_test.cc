// Whole answers, read and written.
#include <fakes/anthropic.h>

#include "dialects/carried_state.h"

namespace qq::dialects::anthropic {
namespace {

using qq::testing::describe;

constexpr std::string_view kAnswer =
    R"({"id":"msg_1","type":"message","role":"assistant","model":"claude-x-2026","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"cmVk"},{"type":"text","text":"Hi","citations":[{"cited_text":"c"}]},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1.50},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":30,"cache_read_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":9,"output_tokens_details":{"thinking_tokens":2},"service_tier":"standard","server_tool_use":{"web_search_requests":1}},"container":{"id":"c"}})";

Result<model::ChatAnswer> read(std::string_view body) {
  return provider_side().decode_answer(body, {}, "seed");
}
std::string written(const model::ChatAnswer& answer, Losses& losses, const model::ChatRequest& request = {}) {
  std::string out =
      client_side().encode_answer(answer, request, {.model = "asked", .request_id = "req1"}, losses);
  EXPECT_FALSE(wire::check_json(out)) << out;
  return out;
}
model::ChatAnswer foreign_answer(std::vector<model::Part> parts, model::Finish finish = model::Finish::Stop) {
  model::ChatAnswer answer;
  answer.id = "chatcmpl-1";
  answer.choices.push_back({.parts = std::move(parts), .finish = finish, .finish_word = "stop"});
  return answer;
}
std::string content_of(std::string_view body) {
  return std::string(wire::JsonValue(body).member("content")->text());
}

TEST(AnthropicAnswer, EveryMemberHasItsPlace) {
  const auto answer = read(kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(
      describe(*answer),
      R"(answer id=msg_1 model=claude-x-2026 created=0 tier=default +usage.server_tool_use={"web_search_requests":1} +container={"id":"c"}
  choice 0 tool_calls (tool_use)
    reasoning "hm" state anthropic:c2ln
    reasoning_redacted "" state anthropic:cmVk
    text "Hi" citation {"cited_text":"c"}
    opaque anthropic server_tool_use {"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}}
    call toolu_1 f {"a": 1.50} +caller={"type":"direct"}
  usage uncached=4 read=5 write=10 write_1h=20 text=7 reasoning=2
)");
}

TEST(AnthropicAnswer, ComesOutAsItWentIn) {
  Losses losses;
  const std::string out = written(*read(kAnswer), losses);
  const auto again = read(out);
  ASSERT_TRUE(again);
  model::ChatAnswer expected = *read(kAnswer);
  expected.model = "asked";
  EXPECT_EQ(describe(*again), describe(expected));
  EXPECT_TRUE(losses.empty());
}

TEST(AnthropicAnswer, StopReasonsMeanWhatTheySay) {
  for (const auto& [word, finish] : {std::pair<std::string, model::Finish>{"end_turn", model::Finish::Stop},
                                     {"stop_sequence", model::Finish::StopString},
                                     {"max_tokens", model::Finish::Length},
                                     {"model_context_window_exceeded", model::Finish::Length},
                                     {"pause_turn", model::Finish::Paused},
                                     {"refusal", model::Finish::Refusal},
                                     {"something_new", model::Finish::Stop}}) {
    const auto answer = read(R"({"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":")" +
                             word + R"(","usage":{}})");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->choices[0].finish, finish) << word;
    EXPECT_EQ(answer->choices[0].finish_word, word);
    EXPECT_EQ(answer->usage.source, model::UsageSource::None);
  }
}

TEST(AnthropicAnswer, WhatIsNoAnswerIsSaidToBeNone) {
  EXPECT_EQ(read("{").error().kind, ErrorKind::BadJson);
  EXPECT_EQ(read("{}").error().kind, ErrorKind::EmptyReply);
  const auto error = read(R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})");
  EXPECT_EQ(error.error().kind, ErrorKind::StreamError);
  EXPECT_EQ(error.error().type, "overloaded_error");
  const auto with_content = [](std::string_view content, std::string_view reason) {
    return read(R"({"type":"message","content":)" + std::string(content) + R"(,"stop_reason":")" +
                std::string(reason) + "\"}");
  };
  EXPECT_EQ(with_content("[]", "end_turn").error().kind, ErrorKind::EmptyReply);
  EXPECT_EQ(with_content(R"([{"type":"text","text":" "}])", "end_turn").error().kind, ErrorKind::EmptyReply);
  EXPECT_TRUE(with_content("[]", "refusal"));
  EXPECT_TRUE(with_content("[]", "max_tokens"));
}

TEST(AnthropicAnswer, WhatIsNoUtf8IsReplacedWhereverItStands) {
  const auto answer = read(
      "{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{"
      "\"a\":\"\xe4\xb8\"}}],"
      "\"stop_reason\":\"tool_use\",\"\x93\":1}");
  ASSERT_TRUE(answer);
  Losses losses;
  EXPECT_THAT(written(*answer, losses), ::testing::HasSubstr("{\"a\":\"\xef\xbf\xbd\"}"));
}

TEST(AnthropicAnswer, AnotherProvidersIsWrittenInThisDialect) {
  model::Part call = testing::call("call_1", "f", "");
  call.state = {model::Dialect::Gemini, "sig"};
  const std::string id = *with_carried("call_1", {.call = call.state, .reasoning = {}});
  model::Part summary(
      model::ReasoningPart{.kind = model::ReasoningPart::Kind::Summary, .text = "s", .id = "rs_1"});
  summary.state = {model::Dialect::OpenAiResponses, "enc"};
  const std::string signature = state_field(summary.state, model::Dialect::Anthropic);
  Losses losses;
  const std::string out = written(foreign_answer({summary, testing::text("Hi"), call}), losses);
  EXPECT_EQ(
      out,
      R"({"id":"msg_req1","type":"message","role":"assistant","model":"asked","content":[{"type":"thinking","thinking":"s","signature":")" +
          signature + R"("},{"type":"text","text":"Hi"},{"type":"tool_use","id":")" + id +
          R"(","name":"f","input":{}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}})");
  EXPECT_TRUE(losses.empty());
}

TEST(AnthropicAnswer, ArgumentsThatAreNoObjectAreWrapped) {
  Losses losses;
  EXPECT_EQ(content_of(
                written(foreign_answer({testing::call("c", "f", "{\"a\":")}, model::Finish::Length), losses)),
            R"([{"type":"tool_use","id":"c","name":"f","input":{"arguments":"{\"a\":"}}])");
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].why, loss::kNotJson);
}

TEST(AnthropicAnswer, WhatHasNoPlaceIsReported) {
  model::Part cited(model::TextPart{.text = "x", .citations = {"{}"}});
  model::Part image(model::MediaPart{.data = "AAAA", .media_type = "image/png"});
  model::Part opaque(model::OpaquePart{model::Dialect::OpenAiResponses, "web_search_call", "{}"});
  Losses losses;
  EXPECT_EQ(content_of(written(foreign_answer({cited, image, opaque}), losses)),
            R"([{"type":"text","text":"x"}])");
  EXPECT_EQ(losses.size(), 3U);
}

TEST(AnthropicAnswer, ThoughtsThatWereNotWantedLeaveTheirState) {
  model::ChatRequest request;
  request.reasoning = model::ReasoningWish{.show = false, .summary = {}};
  Losses losses;
  EXPECT_EQ(content_of(written(foreign_answer({testing::thought("hm", {model::Dialect::Anthropic, "c2ln"}),
                                               testing::thought("plain", {}), testing::text("x")}),
                               losses, request)),
            R"([{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"x"}])");
}

}  // namespace
}  // namespace qq::dialects::anthropic
