#include <fakes/neutral.h>

#include "dialects/carried_state.h"
#include "dialects/openai_chat/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_chat {
namespace stream_test {

using testing::DecodedStream;

DecodedStream decoded(std::string_view body) {
  return testing::decode_however_split(provider_side(), model::Dialect::OpenAiChat, {}, body);
}
// Chunks of the first choice with these deltas, and its end.
std::string chunks(const std::vector<std::string_view>& deltas, std::string_view finish = "stop") {
  std::string out;
  for (const std::string_view delta : deltas)
    out.append(R"(data: {"id":"c","choices":[{"index":0,"delta":)").append(delta).append("}]}\n\n");
  out.append(R"(data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":")")
      .append(finish)
      .append("\"}]}\n\ndata: [DONE]\n\n");
  return out;
}
// What the deltas come out as, without the beginning and the end.
std::string events(const std::vector<std::string_view>& deltas, std::string_view finish = "stop") {
  const DecodedStream stream = decoded(chunks(deltas, finish));
  std::string text = stream.events;
  if (text.starts_with("started\n")) text.erase(0, 8);
  if (text.ends_with("end\n")) text.resize(text.size() - 4);
  return text;
}

TEST(ChatStreamDecode, ReadsTextAndUsage) {
  EXPECT_EQ(
      decoded(
          "data: "
          "{\"id\":\"c\",\"created\":3,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
          "\"assistant\",\"content\":\"\"}}]}\n\n"
          "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}],\"usage\":null}\n\n"
          "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
          "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n"
          "data: [DONE]\n\n")
          .events,
      "started\n0.0 text\n0.0 + \"Hi\"\nusage uncached=3 text=2\n0.0 done\n0 finished stop (stop)\nend\n");
}

TEST(ChatStreamDecode, FramingOfAllKinds) {
  const std::string plain = decoded(chunks({R"({"content":"Hi"})"})).events;
  const std::string body = chunks({R"({"content":"Hi"})"});
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = body;
    for (std::size_t at = 0; (at = changed.find(from, at)) != std::string::npos; at += to.size())
      changed.replace(at, from.size(), to);
    return changed;
  };
  EXPECT_EQ(decoded(with("\n", "\r\n")).events, plain);
  EXPECT_EQ(decoded(with("\n", "\r")).events, plain);
  EXPECT_EQ(decoded(with("data: ", "data:")).events, plain);
  EXPECT_EQ(decoded("\xef\xbb\xbf" + body).events, plain);
  EXPECT_EQ(decoded("\n\n: OPENROUTER PROCESSING\n\n" + body).events, plain);
  EXPECT_EQ(decoded(with(",\"choices\"", ",\ndata: \"choices\"")).events, plain);
  EXPECT_EQ(decoded(with("data: [DONE]\n\n", "")).events, plain) << "a finish reason ends it as well";
  EXPECT_EQ(decoded(with("data: [DONE]\n\n", "data: [DONE]")).events, plain);
}

TEST(ChatStreamDecode, BytesThatAreNoUtf8BreakNothing) {
  EXPECT_EQ(events({"{\"content\":\"a\xffz\",\"annotations\":[{\"url\":\"\xff\"}]}"}),
            "0.0 text\n0.0 + \"a\xef\xbf\xbdz\"\n0.0 citation {\"url\":\"\xef\xbf\xbd\"}\n0.0 done\n"
            "0 finished stop (stop)\n");
}

TEST(ChatStreamDecode, AzuresFirstChunkSaysNothing) {
  const DecodedStream stream = decoded(
      "data: {\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"prompt_filter_results\":[]}\n\n" +
      chunks({R"({"content":"Hi"})"}));
  EXPECT_EQ(stream.answer.id, "c");
}

TEST(ChatStreamDecode, AChoiceThatHasNotBegunIsMissing) {
  const auto played = [](std::string_view body, std::uint32_t choices) {
    const model::Target target;
    class Last final : public EventSink {
     public:
      void on_event(const model::StreamEvent& event) override { kind = event.kind; }
      model::StreamEvent::Kind kind = model::StreamEvent::Kind::Ping;
    } last;
    const auto decoder = provider_side().stream_decoder(target, "seed");
    decoder->expect_choices(choices);
    decoder->feed(body, last);
    decoder->finish(last);
    return last.kind;
  };
  std::string body = chunks({R"({"content":"Hi"})"});
  EXPECT_EQ(played(body, 2), model::StreamEvent::Kind::End) << "its provider says that it is all";
  body.resize(body.find("data: [DONE]"));
  EXPECT_EQ(played(body, 1), model::StreamEvent::Kind::End);
  EXPECT_EQ(played(body, 2), model::StreamEvent::Kind::Failed);
}

TEST(ChatStreamDecode, CallsByIndexIdAndName) {
  const std::string two =
      "0.0 call a f\n0.0 args \"{}\"\n0.0 done\n0.1 call b g\n0.1 args \"{\"x\":1}\"\n0.1 done\n0 finished "
      "tool_calls (tool_calls)\n";
  EXPECT_EQ(
      events(
          {R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]})",
           R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})",
           R"({"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\""}}]})",
           R"({"tool_calls":[{"index":1,"id":"","function":{"name":null,"arguments":":1}"}}]})"},
          "tool_calls"),
      two);
  EXPECT_EQ(events({R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]})",
                    R"({"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{\"x\":1}"}}]})"},
                   "tool_calls"),
            two)
      << "without an index";
  EXPECT_EQ(
      events(
          {R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"g","arguments":{"x":1}}}]})"},
          "tool_calls"),
      two)
      << "all with index 0";
}

TEST(ChatStreamDecode, CallsInParallelKeepTheirArguments) {
  EXPECT_EQ(
      events(
          {R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]})",
           R"({"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":"{"}}]})",
           R"({"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"}"}}]})"},
          "tool_calls"),
      "0.0 call a f\n0.0 args \"{\"x\"\"\n0.1 call b f\n0.1 args \"{\"\n0.0 args \":1}\"\n0.0 done\n0.1 "
      "args \"}\"\n0.1 done\n0 finished tool_calls (tool_calls)\n")
      << "the first is done as soon as it is whole";
}

TEST(ChatStreamDecode, ACallThatIsCutShortIsNoAnswer) {
  const std::vector<std::string_view> cut{
      R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"path\":\"/tm"}}]})"};
  const DecodedStream broken = decoded(chunks(cut, "tool_calls"));
  ASSERT_TRUE(broken.events.contains("failed")) << broken.events;
  EXPECT_FALSE(broken.events.contains("finished")) << broken.events;
  const std::string without_a_word =
      R"(data: {"id":"c","choices":[{"index":0,"delta":)" + std::string(cut[0]) + "}]}\n\ndata: [DONE]\n\n";
  EXPECT_TRUE(decoded(without_a_word).events.contains("failed"));
  EXPECT_TRUE(events(cut, "length").ends_with("0.0 done\n0 finished length (length)\n"))
      << "who says that a limit cut it is believed";
  EXPECT_TRUE(events(cut, "stop").ends_with("0 finished stop_string (stop)\n")) << events(cut, "stop");
}

TEST(ChatStreamDecode, ArgumentsThatAreNoJsonAreTheModels) {
  EXPECT_TRUE(events({R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"x: 1"}}]})"},
                     "tool_calls")
                  .ends_with("0 finished tool_calls (tool_calls)\n"));
  EXPECT_TRUE(events({R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]})"},
                     "tool_calls")
                  .ends_with("0 finished tool_calls (tool_calls)\n"))
      << "none at all";
}

TEST(ChatStreamDecode, CallsOfOneNameWithoutIdsAreTold) {
  const DecodedStream stream =
      decoded(chunks({R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}]})",
                      R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}]})"}));
  const auto& parts = stream.answer.choices.at(0).parts;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_NE(parts[0].as<model::ToolCallPart>()->id, parts[1].as<model::ToolCallPart>()->id);
  EXPECT_EQ(stream.answer.choices[0].finish, model::Finish::ToolCalls) << "though it says stop";
}

TEST(ChatStreamDecode, ACallMayGetItsNameLate) {
  EXPECT_EQ(events({R"({"tool_calls":[{"index":0,"id":"a"}]})",
                    R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})",
                    R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]})"}),
            "0.0 call a f\n0.0 args \"{}\"\n0.0 done\n0 finished tool_calls (stop)\n");
  EXPECT_EQ(events({R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})"}).substr(0, 6), "failed");
}

TEST(ChatStreamDecode, ACallsStateComesBeforeItsArguments) {
  EXPECT_EQ(
      events(
          {R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]})"}),
      "0.0 call a f\n0.0 state {\"google\":{\"thought_signature\":\"s\"}}\n0.0 args \"{}\"\n0.0 done\n0 "
      "finished tool_calls (stop)\n");
}

TEST(ChatStreamDecode, ThoughtsThenTextInPartsOfTheirOwn) {
  const std::string expected =
      "0.0 reasoning\n0.0 + \"ab\"\n0.0 done\n0.1 text\n0.1 + \"x\"\n0.1 done\n0 finished stop (stop)\n";
  EXPECT_EQ(events({R"({"reasoning_content":"a","content":""})", R"({"reasoning_content":"b"})",
                    R"({"content":"x"})"}),
            expected);
  EXPECT_EQ(events({R"({"reasoning":"a"})", R"({"reasoning":"b","content":null})", R"({"content":"x"})"}),
            expected);
  EXPECT_EQ(
      events({R"({"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]})",
              R"({"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]})",
              R"({"content":"x"})"}),
      expected);
  EXPECT_EQ(
      events({R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]})",
              R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}],"closed":true}]})",
              R"({"content":[{"type":"text","text":"x"}]})"}),
      expected);
}

TEST(ChatStreamDecode, SignaturesAndEncryptedThoughts) {
  EXPECT_EQ(
      events({R"({"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]})",
              R"({"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]})",
              R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"e","index":1}]})",
              R"({"reasoning_details":[{"type":"reasoning.summary","summary":"b","index":2}]})",
              R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"f","index":2}]})",
              R"({"content":"x"})"}),
      "0.0 reasoning\n0.0 + \"a\"\n0.0 state "
      "{\"type\":\"reasoning.text\",\"signature\":\"s\",\"index\":0}\n0.0 done\n"
      "0.1 reasoning\n0.1 state {\"type\":\"reasoning.encrypted\",\"data\":\"e\",\"index\":1}\n0.1 done\n"
      "0.2 reasoning\n0.2 + \"b\"\n0.2 state "
      "{\"type\":\"reasoning.encrypted\",\"data\":\"f\",\"index\":2}\n0.2 done\n"
      "0.3 text\n0.3 + \"x\"\n0.3 done\n0 finished stop (stop)\n");
}

TEST(ChatStreamDecode, RefusalsSourcesImagesAndSound) {
  EXPECT_EQ(events({R"({"refusal":"No."})"}),
            "0.0 refusal\n0.0 + \"No.\"\n0.0 done\n0 finished stop (stop)\n");
  EXPECT_EQ(
      events({R"({"content":"x"})", R"({"annotations":[{"type":"url_citation"}]})"}),
      "0.0 text\n0.0 + \"x\"\n0.0 citation {\"type\":\"url_citation\"}\n0.0 done\n0 finished stop (stop)\n");
  EXPECT_EQ(events({R"({"images":[{"image_url":{"url":"data:image/png;base64,AAAA"}}]})"}),
            "0.0 media\n0.0 media 4\n0.0 done\n0 finished stop (stop)\n");
  EXPECT_EQ(events({R"({"audio":{"id":"a","transcript":"be"}})", R"({"audio":{"data":"AAAA"}})",
                    R"({"audio":{"transcript":"ep"}})"}),
            "0.0 text\n0.0 + \"be\"\n0.0 done\n0.1 media\n0.1 media 4\n0.1 done\n0.2 text\n0.2 + \"ep\"\n0.2 "
            "done\n0 finished stop (stop)\n");
}

TEST(ChatStreamDecode, ContentBehindAFinishReasonIsKept) {
  const DecodedStream stream = decoded(
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}\n\n");
  EXPECT_EQ(stream.events, "started\n0.0 text\n0.0 + \"ab\"\n0.0 done\n0 finished length (length)\nend\n");
}

TEST(ChatStreamDecode, UsageWhereverItStands) {
  for (
      const char* chunk :
      {R"({"choices":[{"delta":{"content":"x"},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":2}}]})",
       R"({"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":2}}})",
       R"({"usage":{"prompt_tokens":3,"completion_tokens":2},"object":"chat.completion.done","choices":[{"delta":{"content":"x"}}]})"}) {
    const DecodedStream stream = decoded(std::string("data: ").append(chunk).append("\n\n"));
    EXPECT_EQ(testing::describe(stream.answer.usage), "uncached=3 text=2") << chunk;
    EXPECT_TRUE(stream.ended);
  }
}

TEST(ChatStreamDecode, ErrorsAtEachPlace) {
  const std::string begun = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
  const auto failure = [](const std::string& body) {
    const DecodedStream stream = decoded(body);
    return stream.error ? std::string(to_string(stream.error->kind)) + ": " + stream.error->message : "none";
  };
  const std::string error = R"({"error":{"message":"broke","code":502}})";
  for (const std::string& before : {std::string(), begun}) {
    EXPECT_EQ(failure(before + "data: " + error + "\n\ndata: [DONE]\n\n"), "stream_error: broke");
    EXPECT_EQ(failure(before + "event: error\ndata: " + error + "\n\n"), "stream_error: broke");
    EXPECT_EQ(failure(before + "event: error\ndata: it broke\n\n"), "stream_error: it broke");
    EXPECT_EQ(failure(before + "{\n  \"error\": {\n    \"message\": \"broke\"\n  }\n}\n"),
              "stream_error: broke");
    EXPECT_EQ(failure(before + "data: "
                               "{\"choices\":[{\"delta\":{},\"finish_reason\":\"error\",\"error\":{"
                               "\"message\":\"broke\"}}]}\n\n"),
              "stream_error: broke");
    EXPECT_TRUE(
        failure(before + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"network_error\"}]}\n\n")
            .starts_with("stream_error"));
    EXPECT_TRUE(failure(before + "data: {\"choices\n\n").starts_with("bad_json"));
    EXPECT_TRUE(failure(before).starts_with("stream_cut"));
  }
  EXPECT_TRUE(failure(chunks({R"({"role":"assistant","content":""})"})).starts_with("empty_reply"));
  EXPECT_EQ(failure(chunks({}, "length")), "none");
}

TEST(ChatStreamDecode, UsageBesideAnErrorIsTold) {
  constexpr std::string_view kText = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
  constexpr std::string_view kUsage = R"("usage":{"prompt_tokens":9,"completion_tokens":4})";
  for (const std::string_view chunk : {R"({"choices":[{"index":0,"delta":{},"finish_reason":"error"}],)",
                                       R"({"error":{"message":"overloaded"},)",
                                       R"({"choices":[{"index":0,"delta":{},"error":{"message":"no"}}],)"}) {
    const std::string last = "data: " + std::string(chunk) + std::string(kUsage) + "}\n\n";
    const std::string with_text = decoded(std::string(kText) + last).events;
    const std::size_t usage = with_text.find("usage uncached=9 text=4\n");
    EXPECT_NE(usage, std::string::npos) << with_text;
    EXPECT_LT(usage, with_text.find("failed")) << with_text;
    EXPECT_NE(decoded(last).events.find("usage uncached=9 text=4\n"), std::string::npos)
        << "also before anything was said: " << decoded(last).events;
  }
}

TEST(ChatStreamDecode, MoreChoicesThanAnybodyGivesAreAFailure) {
  const std::string stream = decoded(R"(data: {"choices":[{"index":4294967295,"delta":{"content":"x"}}]})"
                                     "\n\n")
                                 .events;
  EXPECT_NE(stream.find("too many choices"), std::string::npos) << stream;
}

TEST(ChatStreamDecode, CommentsBehindHalfAnObjectCostNothing) {
  // Each comment once made all that had come be read again.
  std::string body = "{\"a\":[" + std::string(60'000, ' ') + "1\n\n";
  for (int i = 0; i < 300'000; ++i) body += ":\n\n";
  const auto decoder = provider_side().stream_decoder({}, "seed");
  class Sink final : public EventSink {
   public:
    void on_event(const model::StreamEvent&) override {}
  } sink;
  decoder->feed(body, sink);
  decoder->finish(sink);
}

TEST(ChatStreamDecode, OneChoiceOfTwoThatIsCutIsACut) {
  EXPECT_EQ(
      decoded(
          "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"
          "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y\"}}]}\n\n")
          .error->kind,
      ErrorKind::StreamCut);
}

// ---- to the client

model::StreamEvent part_started(model::PartKind kind, std::uint32_t part, std::string_view id = {},
                                std::string_view name = {}) {
  return {
      .kind = model::StreamEvent::Kind::PartStarted, .part_kind = kind, .part = part, .id = id, .name = name};
}

class ChatStreamEncode : public ::testing::Test {
 protected:
  using Kind = model::StreamEvent::Kind;
  std::string encode(const std::vector<model::StreamEvent>& events) {
    const AnswerHead head{.model = "asked", .request_id = "req", .now = 9};
    const auto encoder = client_side().stream_encoder(request_, head);
    std::string out;
    encoder->encode({.kind = Kind::Started, .id = "msg_1", .model = "theirs"}, out);
    for (const model::StreamEvent& event : events) encoder->encode(event, out);
    return out;
  }
  // The deltas alone, a line each.
  std::string deltas(const std::vector<model::StreamEvent>& events) {
    const std::string bytes = encode(events);
    std::string out;
    for (std::size_t at = 0; (at = bytes.find("\"delta\":", at)) != std::string::npos;) {
      at += 8;
      const std::size_t end = bytes.find(",\"logprobs\"", at);
      out += bytes.substr(at, end - at) + "\n";
      at = end;
    }
    const std::string role = "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}\n";
    EXPECT_TRUE(out.starts_with(role)) << out;
    return out.substr(role.size());
  }
  model::ChatRequest request_;
};

TEST_F(ChatStreamEncode, ChunksComeInOpenAisOrderWithEveryField) {
  request_.usage_in_stream = true;
  const model::Usage usage{.input_uncached = 3, .output_text = 2, .source = model::UsageSource::Provider};
  const std::string head =
      R"(data: {"id":"chatcmpl-req","object":"chat.completion.chunk","created":9,"model":"asked","choices":)";
  EXPECT_EQ(
      encode({part_started(model::PartKind::Text, 0),
              {.kind = Kind::TextDelta, .text = "H\"i"},
              {.kind = Kind::Logprobs, .json = "[{}]"},
              {.kind = Kind::PartFinished},
              {.kind = Kind::Finished, .finish = model::Finish::Stop},
              {.kind = Kind::UsageSoFar, .usage = &usage},
              {.kind = Kind::End}}),
      head +
          R"([{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null})"
          "\n\n" +
          head +
          R"([{"index":0,"delta":{"content":"H\"i"},"logprobs":null,"finish_reason":null}],"usage":null})"
          "\n\n" +
          head +
          R"([{"index":0,"delta":{},"logprobs":{"content":[{}],"refusal":null},"finish_reason":null}],"usage":null})"
          "\n\n" +
          head +
          R"([{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null})"
          "\n\n" +
          head +
          R"([],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}})"
          "\n\ndata: [DONE]\n\n");
}

TEST_F(ChatStreamEncode, UsageIsNotSaidToWhoDidNotAsk) {
  const model::Usage usage{.input_uncached = 3, .source = model::UsageSource::Provider};
  EXPECT_EQ(encode({{.kind = Kind::UsageSoFar, .usage = &usage}, {.kind = Kind::End}}).find("usage"),
            std::string::npos);
}

TEST_F(ChatStreamEncode, CallsBeginWithIdAndNameAndGoOnByIndex) {
  EXPECT_EQ(
      deltas({part_started(model::PartKind::ToolCall, 0, "a", "f"),
              {.kind = Kind::ArgumentsDelta, .part = 0, .text = "{\"x\""},
              {.kind = Kind::ArgumentsDelta, .part = 0, .text = ":1}"},
              {.kind = Kind::PartFinished, .part = 0},
              part_started(model::PartKind::ToolCall, 1, "b", "g"),
              {.kind = Kind::PartFinished, .part = 1}}),
      R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]})"
      "\n"
      R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]})"
      "\n"
      R"({"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]})"
      "\n"
      R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]})"
      "\n"
      R"({"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]})"
      "\n");
}

TEST_F(ChatStreamEncode, StateTravelsInDetailsAndInTheNextCallsId) {
  const model::OpaqueState signature{model::Dialect::Anthropic, "sig"};
  const model::OpaqueState of_call{model::Dialect::Gemini, "ts"};
  const std::string sealed = state_field(signature, model::Dialect::OpenAiChat);
  const std::string made = deltas({part_started(model::PartKind::Reasoning, 0),
                                   {.kind = Kind::TextDelta, .part = 0, .text = "why"},
                                   {.kind = Kind::StateDelta, .part = 0, .state = &signature},
                                   {.kind = Kind::PartFinished, .part = 0},
                                   part_started(model::PartKind::ToolCall, 1, "a", "f"),
                                   {.kind = Kind::StateDelta, .part = 1, .state = &of_call},
                                   {.kind = Kind::PartFinished, .part = 1}});
  const std::string first =
      R"({"reasoning_content":"why","reasoning_details":[{"type":"reasoning.text","text":"why","index":0}]})"
      "\n"
      R"({"reasoning_details":[{"type":"reasoning.text","signature":")" +
      sealed +
      R"(","index":0}]})"
      "\n";
  ASSERT_TRUE(made.starts_with(first)) << made;
  const std::size_t begin = made.find("\"id\":\"") + 6;
  const CarriedId carried = take_carried(made.substr(begin, made.find('"', begin) - begin));
  EXPECT_EQ(carried.id, "a");
  EXPECT_EQ(carried.carried.call, of_call);
  ASSERT_EQ(carried.carried.reasoning.size(), 1U);
  EXPECT_EQ(carried.carried.reasoning[0].as<model::ReasoningPart>()->text, "why");
  EXPECT_EQ(carried.carried.reasoning[0].state, signature);
}

TEST_F(ChatStreamEncode, ThoughtsAreHiddenFromWhoDoesNotWantThem) {
  request_.reasoning = model::ReasoningWish{.effort = {}, .budget_tokens = {}, .show = false, .summary = {}};
  EXPECT_EQ(deltas({part_started(model::PartKind::Reasoning, 0),
                    {.kind = Kind::TextDelta, .part = 0, .text = "why"},
                    {.kind = Kind::PartFinished, .part = 0}}),
            "");
}

TEST_F(ChatStreamEncode, EveryChoiceBeginsWithItsRole) {
  const std::string bytes = encode({{.kind = Kind::PartStarted, .choice = 1, .part = 0},
                                    {.kind = Kind::TextDelta, .choice = 1, .part = 0, .text = "x"}});
  EXPECT_NE(bytes.find(R"([{"index":1,"delta":{"role":"assistant","content":"","refusal":null})"),
            std::string::npos);
}

TEST_F(ChatStreamEncode, RefusalsSourcesImagesAndSound) {
  EXPECT_EQ(
      deltas({part_started(model::PartKind::Refusal, 0),
              {.kind = Kind::TextDelta, .part = 0, .text = "No."},
              {.kind = Kind::PartFinished, .part = 0},
              part_started(model::PartKind::Text, 1),
              {.kind = Kind::TextDelta, .part = 1, .text = "abc"},
              {.kind = Kind::CitationDelta, .part = 1, .json = R"({"url":"https://x","title":"X"})"},
              {.kind = Kind::PartFinished, .part = 1},
              part_started(model::PartKind::Media, 2),
              {.kind = Kind::MediaDelta, .part = 2, .text = "AA", .media_type = "image/png"},
              {.kind = Kind::PartFinished, .part = 2},
              part_started(model::PartKind::Media, 3),
              {.kind = Kind::MediaDelta, .part = 3, .text = "BB", .media_type = "audio/pcm"},
              {.kind = Kind::PartFinished, .part = 3}}),
      R"({"refusal":"No."})"
      "\n"
      R"({"content":"abc"})"
      "\n"
      R"({"annotations":[{"type":"url_citation","url_citation":{"url":"https://x","title":"X","start_index":0,"end_index":3}}]})"
      "\n"
      R"({"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]})"
      "\n"
      R"({"audio":{"id":"audio_req","data":"BB"}})"
      "\n");
}

TEST_F(ChatStreamEncode, AnErrorIsOneEventAndNoEnd) {
  const Error error = Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut");
  EXPECT_TRUE(encode({{.kind = Kind::Failed, .error = &error}})
                  .ends_with(R"x(data: {"error":{"message":"cut (request req)","type":"server_error",)x"
                             R"("param":null,"code":"upstream_stream_cut"}})"
                             "\n\n"));
}

TEST_F(ChatStreamEncode, WhatHasNoPlaceIsNamedOnce) {
  const AnswerHead head{.model = "asked", .request_id = "req", .now = 9};
  const auto encoder = client_side().stream_encoder(request_, head);
  const model::OpaqueState state{model::Dialect::Gemini, "s"};
  std::string out;
  const auto lost_by = [&](const model::StreamEvent& event) {
    encoder->encode(event, out);
    std::string fields;
    for (const Loss& loss : encoder->losses()) fields += loss.field + ";";
    return fields;
  };
  lost_by({.kind = Kind::Started, .id = "msg_1", .model = "theirs"});
  lost_by(part_started(model::PartKind::ToolCall, 0, "c", "f"));
  EXPECT_EQ(lost_by({.kind = Kind::StateDelta, .state = &state}), "") << "it goes into the call's id";
  lost_by({.kind = Kind::ArgumentsDelta, .text = "{}"});
  lost_by({.kind = Kind::PartFinished});
  lost_by(part_started(model::PartKind::ToolCall, 1, "d", "f"));
  lost_by({.kind = Kind::ArgumentsDelta, .part = 1, .text = "{}"});
  EXPECT_EQ(lost_by({.kind = Kind::StateDelta, .part = 1, .state = &state}), "tool_calls[].id;")
      << "the id has gone out";
  lost_by({.kind = Kind::PartFinished, .part = 1});
  lost_by(part_started(model::PartKind::Opaque, 2));
  lost_by({.kind = Kind::OpaqueDelta, .part = 2, .json = "{}"});
  EXPECT_EQ(lost_by({.kind = Kind::OpaqueDelta, .part = 2, .json = "{}"}), "tool_calls[].id;content;");
}

}  // namespace stream_test
}  // namespace qq::dialects::openai_chat
