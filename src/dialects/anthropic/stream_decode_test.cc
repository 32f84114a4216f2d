// A provider's stream in all the shapes that Anthropic and its imitators give it.
#include <fakes/anthropic.h>
#include <zlib.h>

#include "base/base64.h"

namespace qq::dialects::anthropic {
namespace {

using qq::testing::DecodedStream;

constexpr std::string_view kStart =
    R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}})";
constexpr std::string_view kEnd =
    R"({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}})";
constexpr std::string_view kStop = R"({"type":"message_stop"})";

std::string block_start(int index, std::string_view block) {
  return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":)" +
         std::string(block) + "}";
}
std::string block_delta(int index, std::string_view delta) {
  return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" +
         std::string(delta) + "}";
}
std::string block_stop(int index) {
  return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}";
}
std::string text_delta(int index, std::string_view text) {
  return block_delta(index, R"({"type":"text_delta","text":")" + std::string(text) + R"("})");
}

struct Shape {
  std::string_view before = "data: ";
  std::string_view after = "\n\n";
};
std::string stream_of(const std::vector<std::string>& events, Shape shape = {}) {
  std::string out;
  for (const std::string& event : events) out.append(shape.before).append(event).append(shape.after);
  return out;
}
const std::vector<std::string> kTextEvents{
    std::string(kStart), block_start(0, R"({"type":"text","text":""})"),
    text_delta(0, "Hé"), text_delta(0, "llo\\n"),
    block_stop(0),       std::string(kEnd),
    std::string(kStop)};
constexpr std::string_view kTextDecoded = R"(started
usage uncached=9 read=4 text=1
0.0 text
0.0 + "Héllo\n"
0.0 done
0 finished stop (end_turn)
usage uncached=9 read=4 text=5
end
)";

// A prime number of places apart, but where the framing itself is looked at.
DecodedStream decode(std::string_view stream, model::MessagesForm form = model::MessagesForm::Direct,
                     std::size_t stride = 13) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Anthropic,
                                           testing::target_of("claude-x", form), stream, 4096, stride);
}
DecodedStream decode(const std::vector<std::string>& events) {
  return decode(stream_of(events));
}
// The events between the message's start and its end.
std::string middle(std::vector<std::string> events) {
  events.insert(events.begin(), std::string(kStart));
  events.emplace_back(kEnd);
  events.emplace_back(kStop);
  std::string text = decode(events).events;
  const std::size_t from = text.find("text=1\n") + 7;
  return text.substr(from, text.find("0 finished") - from);
}

#ifdef QQ_SANITIZED
constexpr std::size_t kEveryPlace = 61;
#else
constexpr std::size_t kEveryPlace = 1;
#endif

TEST(AnthropicStream, IsTheSameInEveryFraming) {
  for (const Shape& shape :
       {Shape{"data: ", "\n\n"}, Shape{"data:", "\n\n"}, Shape{"data: ", "\r\n\r\n"}, Shape{"data: ", "\r\r"},
        Shape{": comment\n\nevent: whatever\ndata: ", "  \n\n"}}) {
    EXPECT_EQ(decode(stream_of(kTextEvents, shape), model::MessagesForm::Direct, kEveryPlace).events,
              kTextDecoded);
  }
  EXPECT_EQ(decode("\xEF\xBB\xBF\n\n" + stream_of(kTextEvents)).events, kTextDecoded);
  std::string lines = stream_of(kTextEvents);
  lines.replace(lines.find(",\"index\""), 1, ",\ndata: ");
  EXPECT_EQ(decode(lines).events, kTextDecoded) << "several data lines";
  std::string unclosed = stream_of(kTextEvents);
  unclosed.resize(unclosed.size() - 2);
  EXPECT_EQ(decode(unclosed).events, kTextDecoded);
}

TEST(AnthropicStream, ThinkingBringsItsSignature) {
  EXPECT_EQ(middle({block_start(0, R"({"type":"thinking","thinking":"","signature":""})"),
                    block_delta(0, R"({"type":"thinking_delta","thinking":"hm"})"),
                    block_delta(0, R"({"type":"signature_delta","signature":"c2ln"})"), block_stop(0),
                    block_start(1, R"({"type":"redacted_thinking","data":"cmVk"})"), block_stop(1)}),
            "0.0 reasoning\n0.0 + \"hm\"\n0.0 state c2ln\n0.0 done\n"
            "0.1 reasoning\n0.1 state cmVk\n0.1 done\n");
}

TEST(AnthropicStream, CallsBringTheirInputInPiecesOrWhole) {
  EXPECT_EQ(
      middle({block_start(0, R"({"type":"tool_use","id":"toolu_1","name":"f","input":{}})"),
              block_delta(0, R"({"type":"input_json_delta","partial_json":""})"),
              block_delta(0, R"({"type":"input_json_delta","partial_json":"{\"a\""})"),
              block_delta(0, R"({"type":"input_json_delta","partial_json":":1}"})"), block_stop(0),
              block_start(1, R"({"type":"tool_use","id":"toolu_2","name":"g","input":{}})"), block_stop(1),
              block_start(2, R"({"type":"tool_use","id":"toolu_3","name":"h","input":{"b":2}})"),
              block_stop(2),
              block_start(3, R"({"type":"tool_use","id":"toolu_4","name":"h","input":{"b":2}})"),
              block_delta(3, R"({"type":"input_json_delta","partial_json":"{\"b\":2}"})"), block_stop(3)}),
      "0.0 call toolu_1 f\n0.0 args \"{\"a\":1}\"\n0.0 done\n"
      "0.1 call toolu_2 g\n0.1 done\n"
      "0.2 call toolu_3 h\n0.2 args \"{\"b\":2}\"\n0.2 done\n"
      "0.3 call toolu_4 h\n0.3 args \"{\"b\":2}\"\n0.3 done\n");
}

TEST(AnthropicStream, CallsWithoutAnIdGetOneThatLasts) {
  const std::vector<std::string> events{
      block_start(0, R"({"type":"tool_use","name":"f","input":{}})"), block_stop(0),
      block_start(1, R"({"type":"tool_use","id":"","name":"f","input":{}})")};
  const std::string first = middle(events);
  EXPECT_EQ(first, middle(events));
  EXPECT_THAT(first, ::testing::MatchesRegex(
                         "0.0 call call_[0-9a-f]+0 f\n0.0 done\n0.1 call call_[0-9a-f]+1 f\n0.1 done\n"));
}

TEST(AnthropicStream, HostedToolsAreOpaqueAndWhole) {
  EXPECT_EQ(
      middle({block_start(0, R"({"type":"server_tool_use","id":"s1","name":"web_search","input":{}})"),
              block_delta(0, R"({"type":"input_json_delta","partial_json":"{\"q\":"})"),
              block_delta(0, R"({"type":"input_json_delta","partial_json":"1}"})"), block_stop(0),
              block_start(1, R"({"type":"web_search_tool_result","content":[]})"), block_stop(1),
              block_start(2, R"({"type":"compaction","content":null})"),
              block_delta(2, R"({"type":"compaction_delta","content":"short"})"), block_stop(2)}),
      "0.0 opaque server_tool_use\n"
      "0.0 opaque "
      "{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{\"q\":1}}\n0.0 done\n"
      "0.1 opaque web_search_tool_result\n"
      "0.1 opaque {\"type\":\"web_search_tool_result\",\"content\":[]}\n0.1 done\n"
      "0.2 opaque compaction\n0.2 opaque {\"type\":\"compaction\",\"content\":\"short\"}\n0.2 done\n");
}

TEST(AnthropicStream, CitationsAndUnknownDeltas) {
  EXPECT_EQ(middle({block_start(0, R"({"type":"text","text":"","citations":[]})"),
                    block_delta(0, R"({"type":"citations_delta","citation":{"cited_text":"c"}})"),
                    block_delta(0, R"({"type":"sparkle_delta","sparkle":1})"), text_delta(0, "x"),
                    block_stop(0), R"({"type":"content_block_sparkle","index":0})", R"({"type":"ping"})"}),
            "0.0 text\n0.0 citation {\"cited_text\":\"c\"}\n0.0 + \"x\"\n0.0 done\n");
}

TEST(AnthropicStream, BlocksThatAreNotClosedAreClosed) {
  EXPECT_EQ(
      middle({block_start(0, R"({"type":"text","text":""})"), text_delta(0, "a"),
              block_start(1, R"({"type":"tool_use","id":"t1","name":"f","input":{}})"),
              block_start(2, R"({"type":"tool_use","id":"t2","name":"f","input":{}})"),
              block_delta(1, R"({"type":"input_json_delta","partial_json":"{}"})")}),
      "0.0 text\n0.0 + \"a\"\n0.0 done\n0.1 call t1 f\n0.2 call t2 f\n0.1 args \"{}\"\n0.1 done\n0.2 done\n");
}

TEST(AnthropicStream, TextWithoutABlockBeginsOne) {
  EXPECT_EQ(middle({text_delta(0, "a"), block_stop(0)}), "0.0 text\n0.0 + \"a\"\n0.0 done\n");
}

TEST(AnthropicStream, ARepeatedStartIsOneAndAnotherMessagesIsAFault) {
  std::vector<std::string> events = kTextEvents;
  events.insert(events.begin() + 3, std::string(kStart));
  EXPECT_EQ(decode(events).answer.choices[0].parts.size(), 1U);
  std::string other(kStart);
  other.replace(other.find("msg_1"), 5, "msg_2");
  events[3] = other;
  const DecodedStream spliced = decode(events);
  ASSERT_TRUE(spliced.error);
  EXPECT_EQ(spliced.error->kind, ErrorKind::StreamError);
}

TEST(AnthropicStream, FiguresThatAreStatedAgainReplaceTheFirst) {
  std::vector<std::string> events = kTextEvents;
  events[5] =
      R"({"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"###"},"usage":{"input_tokens":61,"cache_read_input_tokens":null,"output_tokens":7,"output_tokens_details":{"thinking_tokens":3}}})";
  const DecodedStream stream = decode(events);
  EXPECT_EQ(qq::testing::describe(stream.answer.usage), "uncached=61 read=4 text=4 reasoning=3");
  EXPECT_EQ(stream.answer.choices[0].stop_string, "###");
}

TEST(AnthropicStream, AnErrorMayComeAnywhere) {
  const std::string error = R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";
  for (std::size_t at = 0; at < kTextEvents.size(); ++at) {
    std::vector<std::string> events = kTextEvents;
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), error);
    const DecodedStream stream = decode(events);
    ASSERT_TRUE(stream.error) << at;
    EXPECT_EQ(stream.error->kind, ErrorKind::StreamError);
    EXPECT_EQ(stream.error->type, "overloaded_error");
    EXPECT_EQ(stream.error->message, "Overloaded");
    EXPECT_THAT(stream.events, ::testing::EndsWith("failed stream_error Overloaded\n"));
  }
}

TEST(AnthropicStream, AStreamWithoutAReasonToStopWasCut) {
  for (std::size_t size = 0; size < 6; ++size) {
    const DecodedStream stream = decode(std::vector<std::string>(
        kTextEvents.begin(), kTextEvents.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_TRUE(stream.error) << size;
    EXPECT_EQ(stream.error->kind, ErrorKind::StreamCut);
  }
  const DecodedStream without_stop =
      decode(std::vector<std::string>(kTextEvents.begin(), kTextEvents.begin() + 6));
  EXPECT_FALSE(without_stop.error);
  EXPECT_TRUE(without_stop.ended) << "imitators leave message_stop out";
}

TEST(AnthropicStream, WhatIsNoJsonIsAFault) {
  const DecodedStream stream = decode(stream_of(kTextEvents).substr(0, 300) + "\n\ndata: {\n\n");
  ASSERT_TRUE(stream.error);
  EXPECT_EQ(stream.error->kind, ErrorKind::BadJson);
}

// ---- Bedrock's frames

void put_number(std::string& out, std::size_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift & 0xffU);
}
void put_sum(std::string& out) {
  put_number(out, crc32_z(0, reinterpret_cast<const unsigned char*>(out.data()), out.size()));
}
std::string framed(std::string_view type, std::string_view name, std::string_view payload) {
  std::string headers;
  for (const auto& [key, value] : {std::pair<std::string_view, std::string_view>{":message-type", type},
                                   {type == "exception" ? ":exception-type" : ":event-type", name}}) {
    headers.append(1, static_cast<char>(key.size())).append(key).append("\x07").append(1, '\0');
    headers.append(1, static_cast<char>(value.size())).append(value);
  }
  std::string out;
  put_number(out, 16 + headers.size() + payload.size());
  put_number(out, headers.size());
  put_sum(out);
  out.append(headers).append(payload);
  put_sum(out);
  return out;
}
std::string chunk(std::string_view event) {
  return framed("event", "chunk", R"({"bytes":")" + to_base64(event) + R"(","p":"abc"})");
}

TEST(AnthropicStream, BedrockWrapsTheSameEventsIntoFrames) {
  std::string stream;
  for (const std::string& event : kTextEvents) stream += chunk(event);
  EXPECT_EQ(decode(stream, model::MessagesForm::BedrockInvoke, kEveryPlace).events, kTextDecoded);
}

TEST(AnthropicStream, ABedrockExceptionIsItsError) {
  const std::string stream = chunk(kTextEvents[0]) +
                             framed("exception", "throttlingException", R"({"message":"Too many requests"})");
  const DecodedStream decoded = decode(stream, model::MessagesForm::BedrockInvoke);
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->type, "throttlingException");
  EXPECT_EQ(decoded.error->message, "Too many requests");
}

TEST(AnthropicStream, BrokenFramesAreAFault) {
  std::string stream = chunk(kTextEvents[0]);
  stream[20] = static_cast<char>(stream[20] ^ 1);
  const DecodedStream decoded = decode(stream, model::MessagesForm::BedrockInvoke);
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->kind, ErrorKind::BadFrame);
}

TEST(AnthropicStream, MoreBlocksThanAnAnswerHasAreAFault) {
  std::vector<std::string> events{std::string(kStart)};
  for (int i = 0; i < 4'097; ++i) {
    events.push_back(block_start(i, R"({"type":"text","text":"x"})"));
    events.push_back(block_stop(i));
  }
  const auto decoder = provider_side().stream_decoder({}, "seed");
  class Sink final : public EventSink {
   public:
    void on_event(const model::StreamEvent& event) override {
      failed = failed || event.kind == model::StreamEvent::Kind::Failed;
    }
    bool failed = false;
  } sink;
  events.pop_back();
  events.pop_back();
  decoder->feed(stream_of(events), sink);
  EXPECT_FALSE(sink.failed);
  decoder->feed(stream_of({block_start(4'096, R"({"type":"text","text":"x"})")}), sink);
  EXPECT_TRUE(sink.failed);
}

}  // namespace
}  // namespace qq::dialects::anthropic
