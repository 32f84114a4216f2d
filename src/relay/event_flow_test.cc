// The flows of the dialects that are decoded: what goes out, and what is known of it, however the bytes are
// cut.
#include "relay/event_flow.h"

#include <fakes/aws_frames.h>
#include <gtest/gtest.h>

#include "relay/native_flow.h"
#include "relay/translated_flow.h"

namespace qq::relay {
namespace {

using Output = EventFlow::Output;

const std::string kAnthropic =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\","
    "\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":"
    "null,"
    "\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_start\ndata: "
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
    "\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
    "\"text_delta\",\"text\":\"yes\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
    "\"stop_sequence\":null},\"usage\":{\"output_tokens\":3}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

struct Played {
  std::string out;
  std::optional<Error> error;
  bool ended = false;
};

Played play(EventFlow& flow, std::string_view bytes, std::size_t step,
            EventFlow::BodyEnd end = EventFlow::BodyEnd::Proper) {
  Played played;
  for (std::size_t at = 0; at < bytes.size() && !played.error && !played.ended; at += step) {
    const bool last = at + step >= bytes.size();
    Output output;
    flow.feed(bytes.substr(at, step), last ? end : EventFlow::BodyEnd::NotYet, output);
    for (const std::string_view piece : output.out) played.out.append(piece);
    played.error = output.error;
    played.ended = output.ended;
  }
  return played;
}

TEST(NativeFlow, PassesBytesOnHoweverTheyAreCut) {
  const model::Target target;
  for (const std::size_t step : {1UL, 7UL, 100UL, kAnthropic.size()}) {
    NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
    const Played played = play(flow, kAnthropic, step);
    EXPECT_EQ(played.out, kAnthropic) << step;
    EXPECT_FALSE(played.error);
    EXPECT_TRUE(flow.ended());
    EXPECT_TRUE(flow.content_seen());
    EXPECT_EQ(flow.usage().input_uncached, 7);
    EXPECT_EQ(flow.usage().output_total(), 3);
    EXPECT_EQ(flow.finish_reason(), "end_turn");
  }
}

TEST(NativeFlow, OnlyWholeEventsGoOut) {
  const model::Target target;
  NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  Output output;
  flow.feed(std::string_view(kAnthropic).substr(0, 40), EventFlow::BodyEnd::NotYet, output);
  EXPECT_EQ(output.out[0], "");
  EXPECT_FALSE(output.content);
}

TEST(NativeFlow, PutsTheAskedNameBack) {
  const model::Target target;
  NativeFlow flow(model::Dialect::Anthropic, target, "seed", "my-model", 1 << 20);
  const Played played = play(flow, kAnthropic, 50);
  std::string expected = kAnthropic;
  expected.replace(expected.find("claude-x"), 8, "my-model");
  EXPECT_EQ(played.out, expected);
}

TEST(NativeFlow, AnErrorEventIsToldByUsAndACutIsSeen) {
  const model::Target target;
  const std::string error =
      "event: error\ndata: "
      "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
  const std::size_t half = kAnthropic.find("event: content_block_stop");
  NativeFlow failing(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  const Played failed = play(failing, kAnthropic.substr(0, half) + error, 13);
  EXPECT_EQ(failed.out, kAnthropic.substr(0, half)) << "an exact prefix";
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->kind, ErrorKind::StreamError);
  NativeFlow cut(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  const Played broken = play(cut, kAnthropic.substr(0, half), 13, EventFlow::BodyEnd::Broken);
  EXPECT_EQ(broken.out, kAnthropic.substr(0, half));
  EXPECT_EQ(cut.fault_at_end(), ErrorKind::StreamCut);
}

// However the body is cut, as by a Content-Length that is too small: what goes out are whole events.
TEST(NativeFlow, HalfAnEventAtTheEndGoesToNobody) {
  const model::Target target;
  const std::size_t delta = kAnthropic.find("event: content_block_delta");
  const std::size_t size = kAnthropic.find("\n\n", delta) - delta;
  for (std::size_t cut = 0; cut < size; ++cut) {
    NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
    const Played played = play(flow, kAnthropic.substr(0, delta + cut), 19);
    EXPECT_EQ(played.out, kAnthropic.substr(0, delta)) << cut;
    ASSERT_TRUE(played.error) << cut;
    EXPECT_EQ(played.error->kind, ErrorKind::StreamCut) << cut;
  }
  NativeFlow whole(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  const Played played = play(whole, kAnthropic.substr(0, kAnthropic.size() - 2), 19);
  EXPECT_EQ(played.out, kAnthropic) << "only its blank line is missing";
  EXPECT_FALSE(played.error);
  EXPECT_TRUE(whole.ended());
}

TEST(NativeFlow, AnEventThatIsTooLargeEndsIt) {
  const model::Target target;
  NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 64);
  const Played played = play(flow, kAnthropic, 16);
  ASSERT_TRUE(played.error);
  EXPECT_EQ(played.error->kind, ErrorKind::EventTooBig);
}

class TranslatedFlowTest : public ::testing::Test {
 protected:
  TranslatedFlowTest()
      : encoder_(dialects::client_dialect(model::Dialect::OpenAiChat)
                     ->stream_encoder(request_, {.model = "asked", .request_id = "01R"})),
        flow_(dialects::provider_dialect(model::Dialect::Anthropic)->stream_decoder(target_, "seed"),
              *encoder_) {}

  model::ChatRequest request_;
  model::Target target_;
  std::unique_ptr<dialects::StreamEncoder> encoder_;
  TranslatedFlow flow_;
};

TEST_F(TranslatedFlowTest, ADeltaLeavesInTheStepInWhichItCame) {
  const std::size_t delta_end = kAnthropic.find("event: content_block_stop");
  const std::size_t delta_begin = kAnthropic.find("event: content_block_delta");
  Output before;
  flow_.feed(std::string_view(kAnthropic).substr(0, delta_begin), EventFlow::BodyEnd::NotYet, before);
  EXPECT_FALSE(before.content);
  Output output;
  flow_.feed(std::string_view(kAnthropic).substr(delta_begin, delta_end - delta_begin),
             EventFlow::BodyEnd::NotYet, output);
  EXPECT_TRUE(output.content);
  EXPECT_NE(output.out[0].find("\"content\":\"yes\""), std::string_view::npos) << output.out[0];
}

TEST_F(TranslatedFlowTest, EndsAsTheClientsDialectDoes) {
  const Played played = play(flow_, kAnthropic, 9);
  EXPECT_TRUE(played.ended);
  EXPECT_TRUE(played.out.ends_with("data: [DONE]\n\n")) << played.out;
  EXPECT_EQ(flow_.usage().output_total(), 3);
  EXPECT_NE(played.out.find("\"model\":\"asked\""), std::string::npos);
}

TEST_F(TranslatedFlowTest, AStreamThatSaidAllIsClosedThoughItsLastWordIsMissing) {
  const std::size_t stop = kAnthropic.find("event: message_stop");
  const Played played =
      play(flow_, std::string_view(kAnthropic).substr(0, stop), 1000, EventFlow::BodyEnd::Broken);
  EXPECT_FALSE(played.error);
  EXPECT_TRUE(flow_.ended());
  EXPECT_TRUE(played.out.ends_with("data: [DONE]\n\n")) << played.out;
  std::string more;
  flow_.close(more);
  EXPECT_EQ(more, "") << "once";
}

TEST_F(TranslatedFlowTest, ACutIsNoEnd) {
  const std::size_t half = kAnthropic.find("event: content_block_stop");
  const Played played = play(flow_, std::string_view(kAnthropic).substr(0, half), 1000);
  ASSERT_TRUE(played.error);
  EXPECT_EQ(played.error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(played.out.find("[DONE]"), std::string::npos);
}

std::string text_delta(std::string_view json) {
  return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
         "\"type\":\"text_delta\",\"text\":" +
         std::string(json) + "}}\n\n";
}

// The stream with these deltas instead of its one.
std::string with_deltas(std::initializer_list<std::string_view> texts) {
  std::string deltas;
  for (const std::string_view text : texts) deltas += text_delta(text);
  std::string stream = kAnthropic;
  const std::string one = text_delta("\"yes\"");
  stream.replace(stream.find(one), one.size(), deltas);
  return stream;
}

TEST(NativeFlow, LineBreaksThatAreSplitAreJoined) {
  model::Target target;
  target.joins_line_breaks = true;
  const std::string split = with_deltas({"\"a\\n\"", "\"\\n\"", "\"b\\r\"", "\"\\nc\"", "\"d\"", "\"\\n\""});
  const std::string joined = with_deltas({"\"a\"", "\"\\n\\nb\"", "\"\\r\\nc\"", "\"d\"", "\"\\n\""});
  for (const std::size_t step : {1UL, 7UL, split.size()}) {
    NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
    const Played played = play(flow, split, step);
    EXPECT_EQ(played.out, joined) << step;
    EXPECT_FALSE(played.error);
  }
  target.joins_line_breaks = false;
  NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  EXPECT_EQ(play(flow, split, split.size()).out, split);
}

TEST(NativeFlow, LineBreaksJoinedLeaveAllElseAsItCame) {
  model::Target target;
  target.joins_line_breaks = true;
  NativeFlow flow(model::Dialect::Anthropic, target, "seed", {}, 1 << 20);
  EXPECT_EQ(play(flow, kAnthropic, 7).out, kAnthropic);
}

TEST(TranslatedFlow, LineBreaksThatAreSplitAreJoinedInEveryDialect) {
  const model::Target target;
  for (const bool joins : {false, true}) {
    model::ChatRequest request;
    request.dialect = model::Dialect::OpenAiChat;
    const dialects::AnswerHead head{.model = "asked", .request_id = "r", .now = 1};
    const auto encoder = dialects::client_dialect(model::Dialect::OpenAiChat)->stream_encoder(request, head);
    TranslatedFlow flow(dialects::provider_dialect(model::Dialect::Anthropic)->stream_decoder(target, "seed"),
                        *encoder, joins);
    const Played played = play(flow, with_deltas({"\"a\\n\"", "\"\\nb\"", "\"\\n\""}), 1'000);
    EXPECT_EQ(played.out.find(R"("content":"a")") != std::string::npos, joins) << played.out;
    EXPECT_EQ(played.out.find(R"("content":"\n\nb")") != std::string::npos, joins) << played.out;
    EXPECT_NE(played.out.find(R"("content":"\n")"), std::string::npos) << "at the end nothing is lost";
    EXPECT_TRUE(played.out.ends_with("data: [DONE]\n\n")) << played.out;
  }
}

// Gemini's word for a call that came out wrong, behind some text.
constexpr std::string_view kMalformed =
    R"(data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see"}]},"index":0}]})"
    "\n\n"
    R"(data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0}],)"
    R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}})"
    "\n\n";

TEST(BrokenGeneration, IsAFailureForClientsOfEveryDialect) {
  for (const model::Dialect client : {model::Dialect::OpenAiChat, model::Dialect::OpenAiResponses,
                                      model::Dialect::Anthropic, model::Dialect::Gemini}) {
    const model::ChatRequest request;
    const model::Target target;
    const auto encoder =
        dialects::client_dialect(client)->stream_encoder(request, {.model = "asked", .request_id = "01R"});
    TranslatedFlow flow(dialects::provider_dialect(model::Dialect::Gemini)->stream_decoder(target, "seed"),
                        *encoder, false);
    const Played played = play(flow, kMalformed, 1000);
    ASSERT_TRUE(played.error) << played.out;
    EXPECT_EQ(played.error->kind, ErrorKind::StreamError);
    EXPECT_NE(played.error->message.find("MALFORMED_FUNCTION_CALL"), std::string::npos);
    EXPECT_FALSE(flow.ended());
    EXPECT_NE(played.out.find("Let me see"), std::string::npos);
    for (const std::string_view end :
         {"end_turn", "finishReason", "finish_reason\":\"", "message_stop", "[DONE]", "response.completed"}) {
      EXPECT_EQ(played.out.find(end), std::string::npos) << played.out;
    }
    EXPECT_EQ(flow.usage().output_total(), 4) << "it is billed";
  }
}

// What the gap between events is measured by.
TEST(TranslatedFrames, AWholeOneIsNewsAndAPartIsNone) {
  const model::Target target;
  const model::ChatRequest request;
  const auto encoder = dialects::client_dialect(model::Dialect::OpenAiChat)
                           ->stream_encoder(request, {.model = "asked", .request_id = "01R"});
  TranslatedFlow flow(dialects::provider_dialect(model::Dialect::Bedrock)->stream_decoder(target, "seed"),
                      *encoder);
  // It means nothing to anybody, and a line's end is in it all the same.
  const std::string frame = testing::aws_event("stillThinking", "{\n\n\n}");
  const auto feed = [&](std::string_view bytes) {
    Output output;
    flow.feed(bytes, EventFlow::BodyEnd::NotYet, output);
    EXPECT_EQ(output.out[0], "");
    EXPECT_FALSE(output.error) << output.error->message;
    return output.line;
  };
  EXPECT_FALSE(feed(std::string_view(frame).substr(0, frame.size() - 1)));
  EXPECT_TRUE(feed(std::string_view(frame).substr(frame.size() - 1)));
  EXPECT_TRUE(feed(testing::aws_event("stillThinking", "{}")));
}

const std::string kOneCandidate =
    R"(data: {"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"finishReason":"STOP"}]})"
    "\r\n\r\n";
const std::string kOtherCandidate =
    R"(data: {"candidates":[{"index":1,"content":{"parts":[{"text":"b"}],"role":"model"},"finishReason":"STOP"}]})"
    "\r\n\r\n";

TEST(NativeFlow, AnAnswerThatHasNotBegunIsMissing) {
  const model::Target target;
  const auto played = [&](const std::string& bytes, std::uint32_t choices) {
    NativeFlow flow(model::Dialect::Gemini, target, "seed", {}, 1 << 20, choices);
    return play(flow, bytes, 19);
  };
  EXPECT_FALSE(played(kOneCandidate, 1).error);
  const Played cut = played(kOneCandidate, 2);
  ASSERT_TRUE(cut.error) << "one of two";
  EXPECT_EQ(cut.error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(cut.out, kOneCandidate);
  EXPECT_FALSE(played(kOneCandidate + kOtherCandidate, 2).error);
  const std::string blocked = R"(data: {"promptFeedback":{"blockReason":"SAFETY"}})"
                              "\r\n\r\n";
  EXPECT_FALSE(played(blocked, 2).error) << "there is nothing to answer";
}

}  // namespace
}  // namespace qq::relay
