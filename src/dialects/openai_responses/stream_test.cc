#include <fakes/neutral.h>

#include <algorithm>

#include "dialects/openai_responses/dialect.h"
#include "wire/json.h"
#include "wire/sse.h"

namespace qq::dialects::openai_responses {
namespace {

constexpr model::Dialect kOurs = model::Dialect::OpenAiResponses;

std::string events(std::initializer_list<std::string_view> data, std::string_view end = "\n") {
  std::string body;
  for (const std::string_view each : data) body.append("data: ").append(each).append(end).append(end);
  return body;
}

testing::DecodedStream decoded(std::string_view body) {
  return testing::decode_however_split(provider_side(), kOurs, {}, body);
}

constexpr std::string_view kCreated =
    R"({"type":"response.created","response":{"id":"resp_1","model":"m","created_at":5.0,"output":[]}})";
constexpr std::string_view kMessage =
    R"({"type":"response.output_item.added","output_index":0,"item":{"id":"a","type":"message","content":[]}})";
constexpr std::string_view kDelta =
    R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"b","delta":"hi"})";
constexpr std::string_view kCompleted =
    R"({"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":2}}})";

constexpr std::string_view kHi =
    "started\n0.0 text\n0.0 + \"hi\"\n0.0 done\nusage uncached=1 text=2\n"
    "0 finished stop (completed)\nend\n";

TEST(ResponsesStream, FramingIsNoMatter) {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    EXPECT_EQ(decoded(events({kCreated, kMessage, kDelta, kCompleted}, end)).events, kHi);
  }
  EXPECT_EQ(decoded("\xef\xbb\xbf: hello\n\n" + events({kCreated, kDelta, kCompleted, "[DONE]"})).events,
            kHi);
  std::string tight = events({kCreated, kMessage, kDelta, kCompleted});
  for (std::size_t at = 0; (at = tight.find("data: ", at)) != std::string::npos; ++at) tight.erase(at + 5, 1);
  EXPECT_EQ(decoded(tight).events, kHi);
  const std::string lines =
      "data: {\"type\":\"response.output_text.delta\",\ndata: \"output_index\":0,\"delta\":\"hi\"}\n\n";
  EXPECT_EQ(decoded(events({kCreated}) + lines + events({kCompleted})).events, kHi);
  std::string unclosed = events({kCreated, kDelta, kCompleted});
  unclosed.resize(unclosed.size() - 2);
  EXPECT_EQ(decoded(unclosed).events, kHi);
}

TEST(ResponsesStream, TheNameOfTheEventServesWhereTheTypeIsMissing) {
  EXPECT_EQ(decoded("event: response.output_text.delta\ndata: {\"output_index\":0,\"delta\":\"hi\"}\n\n" +
                    events({kCompleted}))
                .events,
            kHi);
}

TEST(ResponsesStream, WhatIsRepeatedComesOnce) {
  EXPECT_EQ(
      decoded(
          events(
              {kCreated, kMessage,
               R"({"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}})",
               kDelta,
               R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":""})",
               R"({"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi"})",
               R"({"type":"response.content_part.done","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hi"}})",
               R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}})",
               R"({"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":2},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}})"}))
          .events,
      kHi);
}

TEST(ResponsesStream, WholeTextsServeWhereNoDeltasCome) {
  const std::string_view done[] = {
      R"({"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi"})",
      R"({"type":"response.content_part.done","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hi"}})",
      R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}})"};
  for (const std::string_view event : done) {
    EXPECT_EQ(decoded(events({kCreated, kMessage, event, kCompleted})).events, kHi) << event;
    EXPECT_EQ(decoded(events({kCreated, event, kCompleted})).events, kHi) << event;
  }
  EXPECT_EQ(
      decoded(
          events(
              {kCreated, kMessage,
               R"({"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":2},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}})"}))
          .events,
      kHi);
}

TEST(ResponsesStream, CallsOpenWithTheirNameAndCloseWithTheirItem) {
  const auto parallel = decoded(events(
      {kCreated,
       R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}})",
       R"({"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"g"}})",
       R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"})",
       R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\""})",
       R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":":1}"})",
       R"({"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"})",
       R"({"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}})",
       R"({"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c3","name":""}})",
       R"({"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c3","name":"h","arguments":""}})",
       R"({"type":"response.output_item.added","output_index":3,"item":{"type":"custom_tool_call","call_id":"c4","name":"x","input":""}})",
       R"({"type":"response.custom_tool_call_input.done","output_index":3,"input":"free"})", kCompleted}));
  ASSERT_EQ(parallel.answer.choices.size(), 1U) << parallel.events;
  const auto& parts = parallel.answer.choices[0].parts;
  ASSERT_EQ(parts.size(), 4U) << parallel.events;
  EXPECT_EQ(testing::describe(parts[0]), "call c1 f {\"a\":1}");
  EXPECT_TRUE(parts[1].as<model::ToolCallPart>()->id.starts_with("call_")) << "a made id";
  EXPECT_EQ(parts[1].as<model::ToolCallPart>()->arguments, "{}");
  EXPECT_EQ(testing::describe(parts[2]), "call c3 h {}");
  EXPECT_EQ(testing::describe(parts[3]), "custom_call c4 x free");
  EXPECT_EQ(parallel.answer.choices[0].finish, model::Finish::ToolCalls);
}

TEST(ResponsesStream, ThoughtsKeepTheirPartsAndTheState) {
  const auto stream = decoded(events(
      {kCreated,
       R"({"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"early"}})",
       R"({"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"})",
       R"({"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"})",
       R"({"type":"response.output_item.done","output_index":0,"item":{"id":"other","type":"reasoning","summary":[],"encrypted_content":"E"}})",
       kCompleted}));
  EXPECT_EQ(stream.events,
            "started\n0.0 reasoning rs_1\n0.0 + \"a\"\n0.0 done\n0.1 reasoning rs_1\n0.1 + \"b\"\n0.1 state "
            "E\n0.1 done\n"
            "usage uncached=1 text=2\n0 finished stop (completed)\nend\n");
}

TEST(ResponsesStream, InterleavedItemsKeepTheGrammar) {
  const auto stream = decoded(events(
      {kCreated, kDelta, R"({"type":"response.reasoning_text.delta","output_index":1,"delta":"hm"})", kDelta,
       R"({"type":"response.output_item.added","output_index":2,"item":{"type":"web_search_call","id":"ws"}})",
       R"({"type":"response.web_search_call.searching","output_index":2,"item_id":"ws"})",
       R"({"type":"response.refusal.delta","output_index":3,"delta":"no"})",
       R"({"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","encrypted_content":"E"}})",
       R"({"type":"response.brand_new","output_index":9})", kCompleted}));
  EXPECT_EQ(stream.grammar, "");
  EXPECT_TRUE(stream.ended);
}

TEST(ResponsesStream, EventsOfAnotherKindThanTheirItemKeepTheGrammar) {
  // Announced as something unknown or as a call, and then a text.
  for (const char* type : {"odd", "function_call"}) {
    const std::string added =
        std::string(R"({"type":"response.output_item.added","output_index":0,"item":)") + R"({"type":")" +
        type + R"(","name":"f","call_id":"c"}})";
    const auto stream = decoded(events(
        {kCreated, added, kDelta, R"({"type":"response.odd.progress","output_index":0})",
         R"({"type":"response.content_part.done","output_index":0,"content_index":0,"part":)"
         R"({"type":"output_text","text":"hi","annotations":[{"type":"url_citation"}]}})",
         R"({"type":"response.output_item.done","output_index":0,"item":{"type":"odd"}})", kCompleted}));
    EXPECT_NE(
        stream.events.find("0.1 text\n0.1 + \"hi\"\n0.1 citation {\"type\":\"url_citation\"}\n0.1 done\n"),
        std::string::npos)
        << stream.events;
  }
  // A refusal has no citations.
  const auto refused = decoded(events(
      {kCreated, R"({"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"no"})",
       R"({"type":"response.content_part.done","output_index":0,"content_index":0,"part":)"
       R"({"type":"output_text","text":"","annotations":[{"type":"url_citation"}]}})",
       kCompleted}));
  EXPECT_EQ(refused.events.find("citation"), std::string::npos) << refused.events;
}

TEST(ResponsesStream, ErrorsEndIt) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"type":"error","code":"rate_limit_exceeded","message":"slow","param":null})", "slow"},
      {R"({"type":"error","error":{"type":"x","code":"y","message":"nested"}})", "nested"},
      {R"({"error":{"message":"bare","code":500}})", "bare"},
      {R"({"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"failed"}}})",
       "failed"},
      {R"({"type":"response.failed","response":{"status":"failed","error":null}})",
       "the provider ended its answer with \"failed\""},
  };
  for (const auto& [event, message] : cases) {
    for (const bool first : {true, false}) {
      const auto stream =
          decoded((first ? "" : events({kCreated, kDelta})) + events({event, kCompleted, "[DONE]"}));
      ASSERT_TRUE(stream.error) << event;
      EXPECT_EQ(stream.error->kind, ErrorKind::StreamError);
      EXPECT_EQ(stream.error->message, message);
    }
  }
}

TEST(ResponsesStream, WhatDoesNotEndWasCut) {
  EXPECT_EQ(decoded(events({kCreated, kDelta})).error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(decoded("").error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(decoded(events({kCreated, "[DONE]"})).error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(decoded(events({kCreated, "{\"type\":"})).error->kind, ErrorKind::BadJson);
  EXPECT_TRUE(decoded(events({kCreated, kDelta, "[DONE]"})).ended) << "some end with this alone";
  const auto filtered = decoded(events(
      {kCreated, kDelta,
       R"({"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}})"}));
  EXPECT_EQ(filtered.answer.choices[0].finish, model::Finish::Filtered);
}

// What the official SDK's accumulator checks (ResponseAccumulator.ts), and what it puts together.
class Accumulator {
 public:
  void take(std::string_view stream) {
    wire::SseDecoder decoder;
    std::size_t consumed = 0;
    for (wire::SseEvent event; decoder.next(stream, consumed, event);) {
      ASSERT_FALSE(wire::check_json(event.data)) << event.data;
      const wire::JsonValue data(event.data);
      const std::string type = data.member("type")->string();
      EXPECT_EQ(type, event.name);
      EXPECT_EQ(data.member("sequence_number")->integer(), sequence_++) << event.data;
      take(type, data);
      types += type.substr(type.find('.') + 1) + "\n";
    }
    EXPECT_EQ(consumed, stream.size());
  }
  std::string types;
  std::string last;  // the response of the last event that has one

 private:
  struct Item {
    std::string done;
    std::int64_t contents = 0;
    std::int64_t summaries = 0;
    std::string text;
  };
  Item& item(wire::JsonValue data) {
    const auto index = static_cast<std::size_t>(*data.member("output_index")->integer());
    EXPECT_LT(index, items_.size()) << "missing output " << data.text();
    return items_.at(index);
  }
  void take(const std::string& type, wire::JsonValue data) {
    if (const auto response = data.member("response")) {
      last = response->text();
      if (type != "response.completed" && type != "response.incomplete") return;
      std::size_t index = 0;
      for (wire::JsonElements each(*response->member("output")); each.next(); ++index) {
        EXPECT_EQ(each.value().text(), items_.at(index).done);
      }
      EXPECT_EQ(index, items_.size());
    } else if (type == "response.output_item.added") {
      EXPECT_EQ(data.member("output_index")->integer(), static_cast<std::int64_t>(items_.size()));
      items_.emplace_back();
    } else if (type == "response.output_item.done") {
      item(data).done = data.member("item")->text();
    } else if (type == "response.content_part.added") {
      EXPECT_EQ(data.member("content_index")->integer(), item(data).contents++);
      item(data).text.clear();
    } else if (type == "response.reasoning_summary_part.added") {
      EXPECT_EQ(data.member("summary_index")->integer(), item(data).summaries++);
      item(data).text.clear();
    } else if (type.ends_with(".delta")) {
      item(data).text += data.member("delta")->string();
      if (const auto index = data.member("content_index")) {
        EXPECT_EQ(index->integer(), item(data).contents - 1);
      }
      if (const auto index = data.member("summary_index")) {
        EXPECT_EQ(index->integer(), item(data).summaries - 1);
      }
    } else if (type.ends_with("text.done") || type == "response.refusal.done" ||
               type.ends_with("arguments.done") || type.ends_with("input.done")) {
      for (const std::string_view key : {"text", "refusal", "arguments", "input"}) {
        if (const auto whole = data.member(key)) {
          EXPECT_EQ(whole->string(), item(data).text);
        }
      }
    }
  }

  std::vector<Item> items_;
  std::int64_t sequence_ = 0;
};

Accumulator streamed(const model::ChatAnswer& answer, const model::ChatRequest& request = {}) {
  const auto encoder =
      client_side().stream_encoder(request, {.model = "asked", .request_id = "01REQ", .now = 7});
  std::string out;
  model::for_each_event(answer, [&](const model::StreamEvent& event) { encoder->encode(event, out); });
  Accumulator accumulator;
  accumulator.take(out);
  return accumulator;
}

TEST(ResponsesStream, IsWrittenInTheVendorsOrder) {
  model::ChatAnswer answer;
  answer.dialect = kOurs;
  model::Part thought(
      model::ReasoningPart{.kind = model::ReasoningPart::Kind::Summary, .text = "hm", .id = "rs_1"});
  thought.state = {kOurs, "E"};
  answer.choices.push_back(
      {.parts = {thought, model::Part(model::TextPart{"hi", {R"({"type":"url_citation"})"}}),
                 model::Part(model::RefusalPart{"no"}),
                 model::Part(model::ToolCallPart{.id = "c", .name = "f", .arguments = "{}"})},
       .finish = model::Finish::ToolCalls});
  const Accumulator accumulator = streamed(answer);
  EXPECT_EQ(
      accumulator.types,
      "created\nin_progress\n"
      "output_item.added\nreasoning_summary_part.added\nreasoning_summary_text.delta\n"
      "reasoning_summary_text.done\nreasoning_summary_part.done\noutput_item.done\n"
      "output_item.added\ncontent_part.added\noutput_text.delta\noutput_text.annotation.added\n"
      "output_text.done\ncontent_part.done\n"
      "content_part.added\nrefusal.delta\nrefusal.done\ncontent_part.done\noutput_item.done\n"
      "output_item.added\nfunction_call_arguments.delta\nfunction_call_arguments.done\noutput_item.done\n"
      "completed\n");
  EXPECT_EQ(wire::JsonValue(accumulator.last).member("model")->string(), "asked");
}

TEST(ResponsesStream, ParallelCallsAreAnnouncedInOrder) {
  const model::ChatRequest asked;  // the encoder looks at it
  const auto encoder = client_side().stream_encoder(asked, {.model = "asked", .request_id = "01REQ"});
  using Kind = model::StreamEvent::Kind;
  using model::PartKind;
  const model::OpaqueState state{model::Dialect::Gemini, "G"};
  std::string out;
  const auto send = [&](const model::StreamEvent& event) { encoder->encode(event, out); };
  send({.kind = Kind::Started});
  send({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 0, .id = "a", .name = "f"});
  send({.kind = Kind::StateDelta, .part = 0, .state = &state});
  send({.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = 1, .id = "b", .name = "g"});
  send({.kind = Kind::ArgumentsDelta, .part = 1, .text = "{}"});
  send({.kind = Kind::PartFinished, .part = 1});
  send({.kind = Kind::ArgumentsDelta, .part = 0, .text = "{}"});
  send({.kind = Kind::PartFinished, .part = 0});
  // What has no place here takes no number.
  send({.kind = Kind::PartStarted,
        .part_kind = PartKind::Opaque,
        .part = 2,
        .word = "server_tool_use",
        .dialect = model::Dialect::Anthropic});
  send({.kind = Kind::OpaqueDelta, .part = 2, .json = "{}"});
  send({.kind = Kind::PartFinished, .part = 2});
  send({.kind = Kind::Finished, .finish = model::Finish::ToolCalls});
  send({.kind = Kind::End});
  Accumulator accumulator;
  accumulator.take(out);
  const auto again = testing::decode_stream(provider_side(), kOurs, {}, out);
  ASSERT_EQ(again.answer.choices[0].parts.size(), 2U);
  EXPECT_NE(out.find("\"call_id\":\"a_qq1"), std::string::npos)
      << "the state came before the call was announced";
}

TEST(ResponsesStream, LineEndsOfOthersJsonDoNotEndALine) {
  model::ChatRequest request;
  request.tools.push_back({.name = "f", .schema = "{\n  \"type\": \"object\"\r\n}"});
  model::ChatAnswer answer;
  answer.dialect = kOurs;
  answer.choices.push_back(
      {.parts = {model::Part(model::OpaquePart{kOurs, "web_search_call", "{\"type\":\n\"web_search_call\"}"}),
                 model::Part(model::TextPart{"a\nb", {"{\n}"}})},
       .finish = model::Finish::Stop,
       .logprobs = "[\n{}]"});
  const Accumulator accumulator = streamed(answer, request);
  EXPECT_TRUE(accumulator.types.ends_with("completed\n"));
}

TEST(ResponsesStream, BytesThatAreNoTextAreReplaced) {
  const auto stream = decoded(
      events({kCreated, "{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"h\xff\"}",
              kCompleted}));
  EXPECT_NE(stream.events.find("h\xef\xbf\xbd"), std::string::npos) << stream.events;
}

TEST(ResponsesStream, AFailureIsAnErrorAndAFailedResponse) {
  const Error error = Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut");
  for (const bool started : {true, false}) {
    const model::ChatRequest asked;  // the encoder looks at it
    const auto encoder = client_side().stream_encoder(asked, {.model = "asked", .request_id = "01REQ"});
    std::string out;
    if (started) encoder->encode({.kind = model::StreamEvent::Kind::Started, .id = "resp_x"}, out);
    encoder->encode({.kind = model::StreamEvent::Kind::Failed, .error = &error}, out);
    Accumulator accumulator;
    accumulator.take(out);
    EXPECT_EQ(accumulator.types, "created\nin_progress\nerror\nfailed\n");
    const wire::JsonValue response(accumulator.last);
    EXPECT_EQ(response.member("status")->string(), "failed");
    EXPECT_EQ(response.at("error", "code")->string(), "upstream_stream_cut");
  }
}

}  // namespace
}  // namespace qq::dialects::openai_responses
