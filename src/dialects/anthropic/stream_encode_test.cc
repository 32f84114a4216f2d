// What a client gets of a stream, byte for byte in the order its SDK relies on.
#include <fakes/anthropic.h>

#include "dialects/carried_state.h"
#include "model/answer_builder.h"

namespace qq::dialects::anthropic {
namespace {

using model::PartKind;
using model::StreamEvent;
using Kind = StreamEvent::Kind;

class EncodedStream {
 public:
  explicit EncodedStream(model::ChatRequest request = {})
      : request_(std::move(request)), encoder_(client_side().stream_encoder(request_, head_)) {}
  // What this event alone makes the client get.
  std::string operator()(const StreamEvent& event) {
    std::string out;
    encoder_->encode(event, out);
    all_ += out;
    return out;
  }
  void started(model::Dialect dialect = model::Dialect::OpenAiChat) {
    (*this)({.kind = Kind::Started, .id = "chatcmpl-1", .model = "provider's", .dialect = dialect});
  }
  [[nodiscard]] const std::string& all() const { return all_; }
  // "content[]: the caller's dialect has no place for it" a line.
  [[nodiscard]] std::string lost() const {
    std::string out;
    for (const Loss& loss : encoder_->losses())
      out.append(loss.field).append(": ").append(loss.why).append("\n");
    return out;
  }

 private:
  AnswerHead head_{.model = "asked", .request_id = "req1"};
  model::ChatRequest request_;
  std::unique_ptr<StreamEncoder> encoder_;
  std::string all_;
};

std::string event_line(std::string_view name, std::string_view data) {
  return "event: " + std::string(name) + "\ndata: {\"type\":\"" + std::string(name) + "\"" +
         std::string(data) + "}\n\n";
}
std::string start_line(int index, std::string_view block) {
  return event_line("content_block_start",
                    ",\"index\":" + std::to_string(index) + ",\"content_block\":" + std::string(block));
}
std::string delta_line(int index, std::string_view delta) {
  return event_line("content_block_delta",
                    ",\"index\":" + std::to_string(index) + ",\"delta\":" + std::string(delta));
}
std::string stop_line(int index) {
  return event_line("content_block_stop", ",\"index\":" + std::to_string(index));
}

TEST(AnthropicStreamOut, TextIsToldInTheSdksOrder) {
  EncodedStream stream;
  model::Usage usage{
      .input_uncached = 9, .cache_read = 4, .output_text = 1, .source = model::UsageSource::Provider};
  stream.started();
  EXPECT_EQ(
      stream({.kind = Kind::UsageSoFar, .usage = &usage}),
      event_line(
          "message_start",
          R"(,"message":{"id":"msg_req1","type":"message","role":"assistant","model":"asked","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}})"));
  EXPECT_EQ(stream({.kind = Kind::PartStarted}), start_line(0, R"({"type":"text","text":""})"));
  EXPECT_EQ(stream({.kind = Kind::TextDelta, .text = "a\n"}),
            delta_line(0, R"({"type":"text_delta","text":"a\n"})"));
  EXPECT_EQ(stream({.kind = Kind::Ping}), client_side().heartbeat());
  EXPECT_EQ(stream({.kind = Kind::PartFinished}), stop_line(0));
  EXPECT_EQ(stream({.kind = Kind::Finished, .finish = model::Finish::Length, .word = "length"}), "");
  usage.output_text = 7;
  usage.reasoning = 2;
  EXPECT_EQ(stream({.kind = Kind::UsageSoFar, .usage = &usage}), "");
  EXPECT_EQ(
      stream({.kind = Kind::End}),
      event_line(
          "message_delta",
          R"(,"delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":9,"output_tokens_details":{"thinking_tokens":2}})") +
          event_line("message_stop", ""));
}

TEST(AnthropicStreamOut, ThinkingAndItsStateOfWhateverMaker) {
  EncodedStream stream;
  const model::OpaqueState own{model::Dialect::Anthropic, "c2ln"};
  const model::OpaqueState foreign{model::Dialect::OpenAiResponses, "enc"};
  stream.started();
  stream({.kind = Kind::Ping});
  EXPECT_EQ(stream({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning}),
            start_line(0, R"({"type":"thinking","thinking":"","signature":""})"));
  EXPECT_EQ(stream({.kind = Kind::TextDelta, .text = "hm"}),
            delta_line(0, R"({"type":"thinking_delta","thinking":"hm"})"));
  EXPECT_EQ(stream({.kind = Kind::StateDelta, .state = &own}),
            delta_line(0, R"({"type":"signature_delta","signature":"c2ln"})"));
  EXPECT_EQ(stream({.kind = Kind::PartFinished}), stop_line(0));
  EXPECT_EQ(stream({.kind = Kind::PartStarted,
                    .part_kind = PartKind::Reasoning,
                    .part = 1,
                    .reasoning = model::ReasoningPart::Kind::Redacted}),
            "");
  EXPECT_EQ(stream({.kind = Kind::StateDelta, .part = 1, .state = &foreign}),
            start_line(1, R"({"type":"redacted_thinking","data":")" +
                              state_field(foreign, model::Dialect::Anthropic) + "\"}"));
  EXPECT_EQ(stream({.kind = Kind::PartFinished, .part = 1}), stop_line(1));
}

TEST(AnthropicStreamOut, ThoughtsThatWereNotWantedLeaveTheirState) {
  model::ChatRequest request;
  request.reasoning = model::ReasoningWish{.show = false, .summary = {}};
  EncodedStream stream(std::move(request));
  const model::OpaqueState own{model::Dialect::Anthropic, "c2ln"};
  stream.started();
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning});
  EXPECT_EQ(stream({.kind = Kind::TextDelta, .text = "hm"}), "");
  EXPECT_EQ(stream({.kind = Kind::StateDelta, .state = &own}),
            delta_line(0, R"({"type":"signature_delta","signature":"c2ln"})"));
}

TEST(AnthropicStreamOut, CallsStreamTheirArguments) {
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "call_1", .name = "f"});
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .text = "{\"a\""}),
            start_line(0, R"({"type":"tool_use","id":"call_1","name":"f","input":{}})") +
                delta_line(0, R"({"type":"input_json_delta","partial_json":"{\"a\""})"));
  // A second one beside it.
  stream(
      {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 1, .id = "call_2", .name = "g"});
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .text = ":1}"}),
            delta_line(0, R"({"type":"input_json_delta","partial_json":":1}"})"));
  EXPECT_EQ(stream({.kind = Kind::PartFinished}), stop_line(0));
  EXPECT_EQ(stream({.kind = Kind::PartFinished, .part = 1}),
            start_line(1, R"({"type":"tool_use","id":"call_2","name":"g","input":{}})") + stop_line(1));
  stream({.kind = Kind::Finished, .finish = model::Finish::Stop});
  EXPECT_THAT(stream({.kind = Kind::End}), ::testing::HasSubstr(R"("stop_reason":"tool_use")"));
}

TEST(AnthropicStreamOut, ACallThatCameWholeCarriesItsStateWhicheverComesFirst) {
  const model::OpaqueState state{model::Dialect::Gemini, "signature"};
  const std::string id = *with_carried("call_1", {.call = state, .reasoning = {}});
  for (const bool state_first : {true, false}) {
    EncodedStream stream;
    stream.started();
    stream({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "call_1", .name = "f"});
    if (state_first) stream({.kind = Kind::StateDelta, .state = &state});
    stream({.kind = Kind::ArgumentsDelta, .text = "{}"});
    if (!state_first) stream({.kind = Kind::StateDelta, .state = &state});
    stream({.kind = Kind::PartFinished});
    EXPECT_THAT(stream.all(), ::testing::HasSubstr("\"id\":\"" + id + "\"")) << state_first;
    EXPECT_THAT(stream.all(), ::testing::HasSubstr(R"("partial_json":"{}")"));
  }
}

TEST(AnthropicStreamOut, OnlyItsOwnDialectsPartsAreShown) {
  for (const bool own : {true, false}) {
    EncodedStream stream;
    stream.started(own ? model::Dialect::Anthropic : model::Dialect::OpenAiResponses);
    stream({.kind = Kind::Ping});
    std::string shown =
        stream({.kind = Kind::PartStarted, .part_kind = PartKind::Opaque, .word = "server_tool_use"});
    shown +=
        stream({.kind = Kind::OpaqueDelta, .json = "{\"type\":\"server_tool_use\",\n\"input\":{\"q\":1}}"});
    shown += stream({.kind = Kind::PartFinished});
    EXPECT_EQ(shown, own ? start_line(0, R"({"type":"server_tool_use","input":{}})") +
                               delta_line(0, R"({"type":"input_json_delta","partial_json":"{\"q\":1}"})") +
                               stop_line(0)
                         : "");
    stream({.kind = Kind::PartStarted, .part = 1});
    const int index = own ? 1 : 0;
    EXPECT_EQ(stream({.kind = Kind::CitationDelta, .part = 1, .json = "{\"a\":\n1}"}),
              own ? delta_line(index, R"({"type":"citations_delta","citation":{"a": 1}})") : "");
    stream({.kind = Kind::PartFinished, .part = 1});
    stream({.kind = Kind::Finished, .finish = model::Finish::Paused, .word = "their_word"});
    EXPECT_THAT(stream({.kind = Kind::End}), ::testing::HasSubstr(own ? R"("stop_reason":"their_word")"
                                                                      : R"("stop_reason":"pause_turn")"));
  }
}

TEST(AnthropicStreamOut, AStopStringIsNamed) {
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::Finished, .finish = model::Finish::StopString, .text = "###"});
  EXPECT_THAT(stream({.kind = Kind::End}),
              ::testing::HasSubstr(R"("stop_reason":"stop_sequence","stop_sequence":"###")"));
}

TEST(AnthropicStreamOut, OnlyTheFirstChoiceIsTold) {
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::PartStarted});
  EXPECT_EQ(stream({.kind = Kind::PartStarted, .choice = 1, .part = 1}), "");
  EXPECT_EQ(stream({.kind = Kind::TextDelta, .choice = 1, .part = 1, .text = "other"}), "");
  EXPECT_EQ(stream({.kind = Kind::TextDelta, .text = "one"}),
            delta_line(0, R"({"type":"text_delta","text":"one"})"));
  stream({.kind = Kind::PartFinished, .choice = 1, .part = 1});
  stream({.kind = Kind::PartFinished});
  stream({.kind = Kind::Finished, .finish = model::Finish::Length, .choice = 1});
  stream({.kind = Kind::Finished, .finish = model::Finish::Stop});
  EXPECT_THAT(stream({.kind = Kind::End}), ::testing::HasSubstr(R"("stop_reason":"end_turn")"));
  EXPECT_THAT(stream.all(), ::testing::Not(::testing::HasSubstr("other")));
}

TEST(AnthropicStreamOut, ACustomToolsInputIsMadeAnObject) {
  EncodedStream stream;
  stream.started();
  stream(
      {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "c", .name = "sql", .custom = true});
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .text = "SELECT "}), "") << "no object can be cut there";
  stream({.kind = Kind::ArgumentsDelta, .text = "\"1\""});
  EXPECT_EQ(
      stream({.kind = Kind::PartFinished}),
      start_line(0, R"({"type":"tool_use","id":"c","name":"sql","input":{}})") +
          delta_line(0, R"({"type":"input_json_delta","partial_json":"{\"input\":\"SELECT \\\"1\\\"\"}"})") +
          stop_line(0));
}

TEST(AnthropicStreamOut, AFailureIsTheErrorsOwnForm) {
  EncodedStream stream;
  const Error error = Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut");
  stream.started();
  std::string own;
  client_side().encode_stream_error(error, "req", own);
  EXPECT_THAT(stream({.kind = Kind::Failed, .error = &error}), ::testing::StartsWith("event: error\n"));
  EXPECT_THAT(own, ::testing::StartsWith("event: error\n"));
}

TEST(AnthropicStreamOut, WhatHasNoPlaceIsNamedOnce) {
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::PartStarted});
  stream({.kind = Kind::TextDelta, .text = "a"});
  EXPECT_EQ(stream.lost(), "");
  stream({.kind = Kind::CitationDelta, .json = "{}"});
  stream({.kind = Kind::CitationDelta, .json = "{}"});
  stream({.kind = Kind::Logprobs, .json = "[]"});
  stream({.kind = Kind::PartFinished});
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::Opaque, .part = 1});
  stream({.kind = Kind::PartStarted, .choice = 1, .part = 2});
  constexpr std::string_view kWhy = ": the caller's dialect has no place for it\n";
  std::string expected;
  for (const std::string_view field : {"content[].citations", "logprobs", "content[]", "choices"})
    expected.append(field).append(kWhy);
  EXPECT_EQ(stream.lost(), expected);
}

TEST(AnthropicStreamOut, AStateBehindACallsFirstArgumentsIsLost) {
  const model::OpaqueState signature{model::Dialect::Gemini, "s"};
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "c", .name = "f"});
  stream({.kind = Kind::ArgumentsDelta, .text = "{\"a\":"});
  EXPECT_EQ(stream({.kind = Kind::StateDelta, .state = &signature}), "");
  EXPECT_EQ(stream.lost(), "content[].state: the caller's dialect has no place for it\n");
}

TEST(AnthropicStreamOut, APingBeforeTheAnswerBeginsNothing) {
  EncodedStream stream;
  EXPECT_EQ(stream({.kind = Kind::Ping}), client_side().heartbeat());
  stream.started();
  const std::string begun = stream({.kind = Kind::PartStarted});
  EXPECT_NE(begun.find(R"("id":"msg_req1")"), std::string::npos) << begun;
}

TEST(AnthropicStreamOut, AThoughtThatNobodySignedSaysWhoseItIs) {
  EncodedStream stream;
  stream.started(model::Dialect::Cohere);
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning});
  stream({.kind = Kind::TextDelta, .part_kind = PartKind::Reasoning, .text = "hm"});
  EXPECT_EQ(stream({.kind = Kind::PartFinished}),
            delta_line(0, R"({"type":"signature_delta","signature":")" +
                              no_state_field(model::Dialect::Cohere) + R"("})") +
                stop_line(0));
  EncodedStream own;
  own.started(model::Dialect::Anthropic);
  own({.kind = Kind::PartStarted, .part_kind = PartKind::Reasoning});
  EXPECT_EQ(own({.kind = Kind::PartFinished}), stop_line(0));
}

// Chat providers may mix them; the SDKs take the next delta for the block that was begun last.
TEST(AnthropicStreamOut, CallsWhosePiecesAreMixedBecomeBlocksOneBehindTheOther) {
  EncodedStream stream;
  stream.started();
  stream({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .id = "a", .name = "f"});
  stream({.kind = Kind::ArgumentsDelta, .text = "{\"x\""});
  EXPECT_EQ(
      stream({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 1, .id = "b", .name = "g"}),
      "");
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .part = 1, .text = "{"}), "");
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .text = ":1}"}),
            delta_line(0, R"({"type":"input_json_delta","partial_json":":1}"})"));
  EXPECT_EQ(stream({.kind = Kind::PartFinished}),
            stop_line(0) + start_line(1, R"({"type":"tool_use","id":"b","name":"g","input":{}})") +
                delta_line(1, R"({"type":"input_json_delta","partial_json":"{"})"));
  EXPECT_EQ(stream({.kind = Kind::ArgumentsDelta, .part = 1, .text = "}"}),
            delta_line(1, R"({"type":"input_json_delta","partial_json":"}"})"))
      << "it has its turn";
  EXPECT_EQ(stream({.kind = Kind::PartFinished, .part = 1}), stop_line(1));
}

TEST(AnthropicStreamOut, MixedCallsThatAreTooLargeEndTheStream) {
  const model::ChatRequest request;
  const AnswerHead head{.model = "asked", .request_id = "req1"};
  const auto encoder = client_side().stream_encoder(request, head);
  std::string out;
  encoder->encode({.kind = Kind::Started, .id = "c", .model = "m"}, out);
  for (const std::uint32_t part : {0U, 1U}) {
    encoder->encode(
        {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = part, .id = "a", .name = "f"},
        out);
  }
  EXPECT_EQ(encoder->fault(), nullptr);
  const std::string piece(1U << 20U, ' ');
  encoder->encode({.kind = Kind::ArgumentsDelta, .part = 1, .text = piece}, out);
  ASSERT_NE(encoder->fault(), nullptr);
  EXPECT_EQ(encoder->fault()->kind, ErrorKind::EventTooBig);
}

}  // namespace
}  // namespace qq::dialects::anthropic
