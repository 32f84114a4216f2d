// The built-in answers in the dialects other than OpenAI's, as their clients read them.
#include "simulator/provider/speak.h"

#include <gmock/gmock.h>

#include "dialects/dialect.h"
#include "model/answer_builder.h"
#include "simulator/provider/signature.h"
#include "simulator/provider/test_spoken.h"

namespace qq::simulator {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using wire::JsonValue;

constexpr std::string_view kHello = "Hello! I am a simulated model. You said: \"Say hello.\".";

TEST(Spoken, EveryDialectSaysTheSameWholeAndInAStream) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    const auto whole = told_in(tongue, kPlain);
    EXPECT_EQ(whole->head.status, 200) << whole->body;
    EXPECT_FALSE(wire::check_json(whole->body)) << whole->body;
    EXPECT_EQ(texts_in(whole->body, text_key(tongue)), kHello) << whole->body;
    const auto stream = told_in(tongue, kStream);
    EXPECT_EQ(stream->head.status, 200) << stream->body;
    EXPECT_TRUE(stream->framed);
    EXPECT_EQ(texts_in(joined(documents_of(*stream)), text_key(tongue)), kHello) << stream->body;
    EXPECT_EQ(told_in(tongue, kStream)->raw, stream->raw) << "the same request gets the same bytes";
  }
}

TEST(Spoken, EveryStreamIsSentEventByEvent) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    const Play play = ask_in(tongue, kStream, "ttft=7+gap=5+words=4");
    std::size_t gaps = 0;
    std::size_t firsts = 0;
    for (const Step& step : play.steps) {
      gaps += step.pause == Milliseconds(5) ? 1U : 0U;
      firsts += step.pause == Milliseconds(7) ? 1U : 0U;
    }
    EXPECT_EQ(firsts, 1U);
    EXPECT_GE(gaps, 4U);
  }
}

// What the gateway's own reader of the dialect makes of it.
model::ChatAnswer read_stream(model::Dialect dialect, std::string_view body) {
  struct Sink final : dialects::EventSink {
    explicit Sink(model::Dialect which) : builder(which) {}
    void on_event(const model::StreamEvent& event) override { builder.take(event); }
    model::AnswerBuilder builder;
  };
  Sink sink(dialect);
  const model::Target target;
  const auto decoder = dialects::provider_dialect(dialect)->stream_decoder(target, "seed");
  decoder->feed(body, sink);
  decoder->finish(sink);
  EXPECT_TRUE(sink.builder.ended());
  EXPECT_FALSE(sink.builder.error()) << sink.builder.error()->message;
  return sink.builder.release();
}
model::ChatAnswer read_whole(model::Dialect dialect, std::string_view body) {
  auto answer = dialects::provider_dialect(dialect)->decode_answer(body, model::Target{}, "seed");
  EXPECT_TRUE(answer) << answer.error().message << "\n" << body;
  return std::move(answer).value_or(model::ChatAnswer{});
}

constexpr std::string_view kAnthropicTools =
    R"(,"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},)"
    R"({"name":"time","input_schema":{"type":"object","properties":{}}}])";
constexpr std::string_view kGeminiTools =
    R"(,"tools":[{"functionDeclarations":[{"name":"weather","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}},)"
    R"({"name":"time"}]}])";
constexpr std::string_view kConverseTools =
    R"(,"toolConfig":{"tools":[{"toolSpec":{"name":"weather","inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}},)"
    R"({"toolSpec":{"name":"time","inputSchema":{"json":{"type":"object"}}}}]})";
constexpr std::string_view kOpenAiTools =
    R"(,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},)"
    R"({"type":"function","function":{"name":"time","parameters":{"type":"object","properties":{}}}}])";

// What is the same in an answer that came whole and in one that was streamed.
std::string summary(const model::ChatAnswer& answer) {
  std::string out = fmt::format("{} in {} cached {} out {} thought {}\n", answer.id,
                                answer.usage.input_total(), answer.usage.cache_read.value_or(-1),
                                answer.usage.output_total(), answer.usage.reasoning.value_or(-1));
  for (const model::Choice& choice : answer.choices) {
    out +=
        fmt::format("choice {} {} {}\n", choice.index, model::to_string(choice.finish), choice.stop_string);
    for (const model::Part& part : choice.parts) {
      if (const auto* text = part.as<model::TextPart>()) out += "text " + text->text;
      if (const auto* thought = part.as<model::ReasoningPart>()) out += "thought " + thought->text;
      if (const auto* call = part.as<model::ToolCallPart>())
        out += fmt::format("call {} {} {}", call->id, call->name, call->arguments);
      out += " [" + part.state.data + "]\n";
    }
  }
  return out;
}

TEST(Spoken, TheGatewaysOwnReadersReadAnthropicAndGemini) {
  struct Case {
    std::string_view tongue;
    model::Dialect dialect;
    std::string_view more;
  };
  constexpr std::string_view kThinking = R"(,"thinking":{"type":"adaptive"})";
  const std::string thinking_tools = std::string(kAnthropicTools) + std::string(kThinking);
  const std::string gemini_thinking =
      std::string(kGeminiTools) + R"(,"generationConfig":{"thinkingConfig":{"includeThoughts":true}})";
  const std::vector<Case> cases{
      {"anthropic", model::Dialect::Anthropic, ""},
      {"anthropic", model::Dialect::Anthropic, kAnthropicTools},
      {"anthropic", model::Dialect::Anthropic, kThinking},
      {"anthropic", model::Dialect::Anthropic, thinking_tools},
      {"vertex claude", model::Dialect::Anthropic, kAnthropicTools},
      {"gemini", model::Dialect::Gemini, ""},
      {"gemini", model::Dialect::Gemini, kGeminiTools},
      {"gemini array", model::Dialect::Gemini, kGeminiTools},
      {"gemini", model::Dialect::Gemini, gemini_thinking},
      {"gemini", model::Dialect::Gemini, R"(,"generationConfig":{"candidateCount":2})"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{}{}", each.tongue, each.more));
    const Tongue& tongue = tongue_named(each.tongue);
    const auto whole = read_whole(each.dialect, told_in(tongue, kPlain, {}, each.more)->body);
    const auto stream = read_stream(each.dialect, told_in(tongue, kStream, {}, each.more)->body);
    EXPECT_EQ(summary(whole), summary(stream));
    EXPECT_FALSE(whole.choices.empty());
  }
}

TEST(Spoken, ThoughtsAndCallsOfAnthropicAndGeminiAreSigned) {
  const auto claude =
      read_whole(model::Dialect::Anthropic,
                 told_in(tongue_named("anthropic"), kPlain, {}, R"(,"thinking":{"type":"adaptive"})")->body);
  ASSERT_EQ(claude.choices[0].parts.size(), 2U);
  EXPECT_TRUE(is_signature(model::Dialect::Anthropic, claude.choices[0].parts[0].state.data));
  const auto gemini =
      read_whole(model::Dialect::Gemini,
                 told_in(tongue_named("gemini"), kPlain, "signatures=required", kGeminiTools)->body);
  ASSERT_EQ(gemini.choices[0].parts.size(), 2U) << "two calls";
  EXPECT_TRUE(is_signature(model::Dialect::Gemini, gemini.choices[0].parts[0].state.data));
  EXPECT_TRUE(gemini.choices[0].parts[1].state.empty()) << "the first alone is signed";
  EXPECT_FALSE(is_signature(model::Dialect::Gemini, make_signature(model::Dialect::Anthropic, 1)));
}

TEST(Spoken, ConverseStreamsCallsInFramesAndTellsTheBillBehindTheStop) {
  const auto reply = told_in(tongue_named("converse"), kStream, {}, kConverseTools);
  const auto documents = documents_of(*reply);
  EXPECT_THAT(documents.front(), StartsWith("messageStart {\"role\":\"assistant\""));
  EXPECT_THAT(documents[1],
              StartsWith("contentBlockStart {\"contentBlockIndex\":0,\"start\":{\"toolUse\":{\"name\""
                         ":\"weather\",\"toolUseId\":\"tooluse_"));
  EXPECT_THAT(documents[documents.size() - 2], StartsWith("messageStop {\"stopReason\":\"tool_use\""));
  EXPECT_THAT(documents.back(), StartsWith("metadata "));
  EXPECT_THAT(documents.back(), HasSubstr("\"usage\":{\"inputTokens\":"));
  std::string arguments = texts_in(joined(documents), "input");
  EXPECT_THAT(arguments, StartsWith("{\"city\":"));
  const auto text = documents_of(*told_in(tongue_named("converse"), kStream));
  EXPECT_THAT(text[1], StartsWith("contentBlockDelta ")) << "texts have no start";
}

TEST(Spoken, ConverseThinksWithASignature) {
  const std::string_view more =
      R"(,"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}})";
  const auto whole = told_in(tongue_named("converse"), kPlain, {}, more);
  EXPECT_TRUE(is_signature(model::Dialect::Bedrock, texts_in(whole->body, "signature"))) << whole->body;
  const std::string streamed = joined(documents_of(*told_in(tongue_named("converse"), kStream, {}, more)));
  EXPECT_TRUE(is_signature(model::Dialect::Bedrock, texts_in(streamed, "signature")));
}

TEST(Spoken, InvokeCarriesClaudesEventsInChunksAndItsOwnFigures) {
  const auto documents = documents_of(*told_in(tongue_named("bedrock invoke"), kStream));
  EXPECT_THAT(documents.front(), StartsWith("chunk {\"type\":\"message_start\""));
  EXPECT_THAT(documents.front(), HasSubstr("\"model\":\"sim-x\""));
  EXPECT_THAT(documents.back(), HasSubstr("\"amazon-bedrock-invocationMetrics\":{\"inputTokenCount\":"));
}

TEST(Spoken, CoherePlansBeforeItCallsAndEndsInItsOwnWay) {
  const auto whole = told_in(tongue_named("cohere"), kPlain, {}, kOpenAiTools);
  EXPECT_THAT(whole->body, HasSubstr("\"tool_plan\":\"I will use the weather tool"));
  EXPECT_THAT(whole->body, HasSubstr("\"finish_reason\":\"TOOL_CALL\""));
  EXPECT_THAT(whole->body, HasSubstr("\"arguments\":\"{\\\"city\\\":"));
  const auto stream = told_in(tongue_named("cohere"), kStream, {}, kOpenAiTools);
  const auto events = events_of(stream->body);
  EXPECT_EQ(events.front().name, "message-start");
  EXPECT_EQ(events[1].name, "tool-plan-delta");
  EXPECT_EQ(events[events.size() - 2].name, "message-end");
  EXPECT_EQ(events.back().data, "[DONE]");
  EXPECT_THAT(stream->body, HasSubstr(R"("tool_calls":{"id":")")) << "an object, no list";
  EXPECT_THAT(stream->body, HasSubstr(R"({"type":"tool-call-end","index":1})"));
}

TEST(Spoken, OllamaCallsWithAnObjectAndCountsInTheLastLine) {
  const auto lines = documents_of(*told_in(tongue_named("ollama"), kStream, {}, kOpenAiTools));
  EXPECT_THAT(lines.front(),
              HasSubstr(R"("tool_calls":[{"function":{"name":"weather","arguments":{"city":)"));
  EXPECT_THAT(lines.back(), HasSubstr("\"done\":true"));
  EXPECT_THAT(lines.back(), HasSubstr("\"eval_count\":"));
  for (const std::string& line : lines) EXPECT_FALSE(wire::check_json(line)) << line;
}

TEST(Spoken, FinishReasonsAreTheDialectsOwnWords) {
  struct Case {
    std::string_view tongue;
    std::string_view directive;
    std::string_view said;
  };
  constexpr std::array<Case, 9> kCases{{{"anthropic", "finish=length", "\"stop_reason\":\"max_tokens\""},
                                        {"anthropic", "finish=pause_turn", "\"stop_reason\":\"pause_turn\""},
                                        {"anthropic", "refusal=on", "\"stop_reason\":\"refusal\""},
                                        {"gemini", "finish=length", "\"finishReason\":\"MAX_TOKENS\""},
                                        {"gemini", "finish=RECITATION", "\"finishReason\":\"RECITATION\""},
                                        {"converse", "finish=length", "\"stopReason\":\"max_tokens\""},
                                        {"converse", "finish=guardrail_intervened", "guardrail_intervened"},
                                        {"cohere", "finish=length", "\"finish_reason\":\"MAX_TOKENS\""},
                                        {"ollama", "finish=length", "\"done_reason\":\"length\""}}};
  for (const Case& each : kCases) {
    for (const bool stream : {kPlain, kStream}) {
      const auto reply = told_in(tongue_named(each.tongue), stream, each.directive);
      EXPECT_THAT(stream ? joined(documents_of(*reply)) : reply->body, HasSubstr(each.said));
    }
  }
  const auto stopped = told_in(tongue_named("anthropic"), kPlain, {}, R"(,"stop_sequences":["simulated"])");
  EXPECT_THAT(stopped->body, HasSubstr(R"("stop_reason":"stop_sequence","stop_sequence":"simulated")"));
}

TEST(Spoken, TheBillTellsWhatWasCached) {
  struct Case {
    std::string_view tongue;
    std::string_view said;
  };
  constexpr std::array<Case, 4> kCases{{{"anthropic", "\"cache_read_input_tokens\":5"},
                                        {"gemini", "\"cachedContentTokenCount\":5"},
                                        {"converse", "\"cacheReadInputTokens\":5"},
                                        {"cohere", "\"cached_tokens\":5"}}};
  for (const Case& each : kCases) {
    const Tongue& tongue = tongue_named(each.tongue);
    EXPECT_THAT(told_in(tongue, kPlain, "cached=5")->body, HasSubstr(each.said));
    EXPECT_THAT(joined(documents_of(*told_in(tongue, kStream, "cached=5"))), HasSubstr(each.said));
  }
  EXPECT_THAT(told_in(tongue_named("anthropic"), kPlain, "cache_write=4")->body,
              HasSubstr("\"cache_creation_input_tokens\":4"));
}

TEST(Spoken, TokensAreCountedAsTheyAreBilled) {
  const std::string messages = R"("messages":[{"role":"user","content":"Say hello."}])";
  const auto counted = read_reply(bytes_of(play_of(
      "/v1/messages/count_tokens?beta=true", "{\"model\":\"sim-x\"," + messages + "}", {}, kAnthropicHead)));
  const auto billed = told_in(tongue_named("anthropic"), kPlain);
  EXPECT_EQ(JsonValue(counted->body).member("input_tokens")->text(),
            JsonValue(billed->body).at("usage", "input_tokens")->text());
  const auto google = read_reply(bytes_of(
      play_of("/v1beta/models/sim-x:countTokens",
              R"({"contents":[{"role":"user","parts":[{"text":"Say hello."}]}]})", {}, kGoogleHead)));
  EXPECT_EQ(JsonValue(google->body).member("totalTokens")->text(),
            JsonValue(told_in(tongue_named("gemini"), kPlain)->body)
                .at("usageMetadata", "promptTokenCount")
                ->text());
}

TEST(Spoken, ModelsAreListedInTheFormOfWhoseListItIs) {
  const auto list = [](std::string_view target, std::string_view lines) {
    const std::string raw = fmt::format("GET {} HTTP/1.1\r\nhost: sim\r\n{}\r\n", target, lines);
    wire::RequestHead head;
    wire::read_request_head(raw, wire::HeadLimits{}, head);
    const auto request = RequestText::make(head.method, head.path(), "", head.query(), &head.fields);
    return respond(request, request.path.model, Script{}, Library{}).pieces.front().bytes;
  };
  EXPECT_THAT(list("/v1beta/models?key=k", ""), HasSubstr(R"("name":"models/sim-gemini")"));
  EXPECT_THAT(list("/v1beta/models/sim-a?key=k", ""), HasSubstr(R"("name":"models/sim-a")"));
  EXPECT_THAT(list("/v1/models", kAnthropicHead), HasSubstr(R"({"type":"model","id":"sim-gpt")"));
  EXPECT_THAT(list("/api/tags", ""), HasSubstr(R"({"models":[{"name":"sim-gpt")"));
  EXPECT_THAT(list("/v1/models", ""),
              StartsWith(R"({"object":"list","data":[{"id":"sim-gpt","object":"model")"));
}

}  // namespace
}  // namespace qq::simulator
