// The built-in answers, as a client reads them.
#include <gmock/gmock.h>

#include "base/base64.h"
#include "simulator/provider/other_endpoints.h"
#include "simulator/provider/schema_instance.h"
#include "simulator/provider/test_support.h"
#include "simulator/provider/tokens.h"

namespace qq::simulator {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;
using wire::JsonElements;
using wire::JsonValue;

std::unique_ptr<ReadReply> ask(std::string_view path, const std::string& body) {
  auto reply = read_reply(bytes_of(play_of(path, body)));
  EXPECT_EQ(reply->error, nullptr);
  EXPECT_TRUE(reply->framed);
  return reply;
}
std::unique_ptr<ReadReply> ask_chat(std::string_view model, std::string_view more = {}) {
  return ask("/v1/chat/completions", chat_body(model, more));
}
std::string content_of(const ReadReply& reply) {
  JsonElements choices(*JsonValue(reply.body).member("choices"));
  choices.next();
  return choices.value().at("message", "content")->string();
}

TEST(Chat, EchoesInTheLanguageOfTheQuestion) {
  EXPECT_EQ(content_of(*ask_chat("sim-gpt")), "Hello! I am a simulated model. You said: \"Say hello.\".");
  const auto reply =
      ask("/v1/chat/completions", R"({"model":"sim-gpt","messages":[{"role":"user","content":"你好"}]})");
  EXPECT_EQ(content_of(*reply), "你好，我是鹊桥的模拟模型。你说的是：“你好”。");
}

TEST(Chat, TheSameRequestGetsTheSameBytes) {
  EXPECT_EQ(ask_chat("sim-gpt")->raw, ask_chat("sim-gpt")->raw);
}

TEST(Chat, IdsDoNotDependOnTheModelsNameOrOnOptions) {
  const auto id = [](const ReadReply& reply) { return JsonValue(reply.body).member("id")->string(); };
  EXPECT_EQ(id(*ask_chat("sim-gpt")), id(*ask_chat("sim-other", ",\"temperature\":1")));
}

TEST(Chat, StreamsTheTextOfThePlainAnswerWithTheSameBill) {
  const auto plain = ask_chat("sim-gpt");
  const auto stream = ask_chat("sim-gpt", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
  const auto events = events_of(stream->body);
  EXPECT_EQ(text_of(events), content_of(*plain));
  const JsonValue last(events[events.size() - 2].data);
  EXPECT_EQ(last.member("choices")->text(), "[]");
  EXPECT_EQ(last.member("usage")->text(), JsonValue(plain->body).member("usage")->text());
}

TEST(Chat, ChunksCarryANullUsageOnlyWhenUsageWasAsked) {
  const auto asked =
      events_of(ask_chat("sim-gpt", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}")->body);
  for (std::size_t i = 0; i + 2 < asked.size(); ++i)
    EXPECT_TRUE(JsonValue(asked[i].data).member("usage")->is_null());
  const auto silent = ask_chat("sim-gpt", ",\"stream\":true");
  EXPECT_THAT(silent->body, Not(HasSubstr("usage")));
}

TEST(Chat, CompletionTokensAreThePiecesOfTheStream) {
  const auto stream =
      events_of(ask_chat("sim-gpt", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}")->body);
  // Role, finish, usage and [DONE] are no content.
  const JsonValue usage(stream[stream.size() - 2].data);
  EXPECT_EQ(usage.at("usage", "completion_tokens")->integer(), static_cast<std::int64_t>(stream.size()) - 4);
}

constexpr std::string_view kTwoTools =
    R"(,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},)"
    R"({"type":"function","function":{"name":"time","parameters":{"type":"object","properties":{}}}}])";

TEST(Chat, CallsTwoToolsInParallel) {
  const auto reply = ask_chat("sim-gpt", kTwoTools);
  EXPECT_THAT(reply->body, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_THAT(reply->body, HasSubstr(R"("name":"weather","arguments":"{\"city\":)"));
  EXPECT_THAT(reply->body, HasSubstr(R"("name":"time","arguments":"{}")"));
}

TEST(Chat, StreamsToolCallsByIndexWithTheSameArguments) {
  const auto events = events_of(ask_chat("sim-gpt", std::string(kTwoTools) + ",\"stream\":true")->body);
  std::array<std::string, 2> arguments;
  std::array<int, 2> ids{};
  for (const Event& event : events) {
    if (event.data == "[DONE]") continue;
    JsonElements choices(*JsonValue(event.data).member("choices"));
    if (!choices.next()) continue;
    const auto calls = choices.value().at("delta", "tool_calls");
    if (!calls) continue;
    for (JsonElements items(*calls); items.next();) {
      const auto index = static_cast<std::size_t>(*items.value().member("index")->integer());
      arguments.at(index) += items.value().at("function", "arguments")->string();
      ids.at(index) += items.value().member("id") ? 1 : 0;
    }
  }
  EXPECT_FALSE(wire::check_json(arguments[0]));
  EXPECT_TRUE(JsonValue(arguments[0]).member("city")->is_string());
  EXPECT_EQ(arguments[1], "{}");
  EXPECT_EQ(ids, (std::array<int, 2>{1, 1}));
}

TEST(Chat, ObeysToolChoiceAndParallelToolCalls) {
  EXPECT_THAT(ask_chat("sim-gpt", std::string(kTwoTools) + R"(,"tool_choice":"none")")->body,
              Not(HasSubstr("tool_calls\":[")));
  const auto one = ask_chat("sim-gpt", std::string(kTwoTools) + R"(,"parallel_tool_calls":false)");
  EXPECT_THAT(one->body, Not(HasSubstr(R"("name":"time")")));
  const auto named = ask_chat(
      "sim-gpt", std::string(kTwoTools) + R"(,"tool_choice":{"type":"function","function":{"name":"time"}})");
  EXPECT_THAT(named->body, Not(HasSubstr(R"("name":"weather")")));
}

TEST(Chat, AnswersInWordsOnceTheToolsHaveReturned) {
  const auto reply = ask(
      "/v1/chat/completions",
      R"({"model":"sim-gpt","messages":[{"role":"user","content":"Weather?"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"weather","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"sunny"}],)"
      R"("tools":[{"type":"function","function":{"name":"weather"}}]})");
  EXPECT_EQ(content_of(*reply), "The tools returned: sunny.");
}

TEST(Chat, GivesAValidInstanceOfASchema) {
  const auto reply = ask_chat(
      "sim-gpt",
      R"(,"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":)"
      R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":18}},"required":["name","age"],"additionalProperties":false}}})");
  const std::string said = content_of(*reply);
  ASSERT_FALSE(wire::check_json(said)) << said;
  EXPECT_TRUE(JsonValue(said).member("name")->is_string());
  EXPECT_GE(*JsonValue(said).member("age")->integer(), 18);
}

TEST(Chat, DescribesAnImageByTypeSizeAndPixels) {
  // The picture that the images endpoint makes.
  const auto made = ask("/v1/images/generations", R"({"model":"sim-image","prompt":"a bridge"})");
  JsonElements data(*JsonValue(made->body).member("data"));
  ASSERT_TRUE(data.next());
  const std::string png = data.value().member("b64_json")->string();
  const auto reply = ask(
      "/v1/chat/completions",
      R"({"model":"sim-vision","messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,)" +
          png + R"("}}]}]})");
  EXPECT_EQ(content_of(*reply),
            fmt::format("I see 1 attachment: image/png, {} bytes, 8x8.", from_base64(png)->size()));
}

TEST(Chat, ThinksWhenTheModelsNameOrTheRequestSaysSo) {
  for (const auto& reply : {ask_chat("sim-reasoner"), ask_chat("sim-gpt", R"(,"reasoning_effort":"low")")}) {
    EXPECT_THAT(reply->body, HasSubstr(R"("reasoning_content":"The user asks)"));
    EXPECT_GT(*JsonValue(reply->body).at("usage", "completion_tokens_details", "reasoning_tokens")->integer(),
              5);
  }
  EXPECT_THAT(ask_chat("sim-reasoner+reasoning_field=reasoning")->body,
              HasSubstr(R"("reasoning":"The user)"));
}

TEST(Chat, GivesLogprobsOfEveryTokenWithAlternatives) {
  const auto reply = ask_chat("sim-gpt+words=3", R"(,"logprobs":true,"top_logprobs":2)");
  JsonElements choices(*JsonValue(reply->body).member("choices"));
  ASSERT_TRUE(choices.next());
  std::string text;
  int tokens = 0;
  for (JsonElements items(*choices.value().at("logprobs", "content")); items.next(); ++tokens) {
    text += items.value().member("token")->string();
    int alternatives = 0;
    for (JsonElements top(*items.value().member("top_logprobs")); top.next();) ++alternatives;
    EXPECT_EQ(alternatives, 2);
  }
  EXPECT_EQ(tokens, 3);
  EXPECT_EQ(text, content_of(*reply));
}

TEST(Chat, GivesNChoicesInterleavedInAStream) {
  const auto events = events_of(ask_chat("sim-gpt", R"(,"n":3,"stream":true)")->body);
  EXPECT_THAT(events[0].data, HasSubstr(R"("index":0)"));
  EXPECT_THAT(events[1].data, HasSubstr(R"("index":1)"));
  EXPECT_THAT(events[2].data, HasSubstr(R"("index":2)"));
}

TEST(Chat, StopsAtMaxTokensAndAtStopStrings) {
  EXPECT_THAT(
      ask_chat("sim-gpt", R"(,"max_completion_tokens":2)")->body,
      HasSubstr(
          R"("content":"Hello!","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"length")"));
  EXPECT_EQ(content_of(*ask_chat("sim-gpt", R"(,"stop":["simulated"])")), "Hello! I am a ");
}

TEST(Chat, RefusesInOpenAisWordsWhatOpenAiRefuses) {
  const auto status = [](std::string_view body) {
    return read_reply(bytes_of(play_of("/v1/chat/completions", std::string(body))));
  };
  const auto broken = status("{\"model\":");
  EXPECT_EQ(broken->head.status, 400);
  const auto missing = status(R"({"model":"sim-gpt"})");
  EXPECT_EQ(missing->head.status, 400);
  EXPECT_EQ(JsonValue(missing->body).at("error", "param")->string(), "messages");
  EXPECT_EQ(status(R"({"messages":[{"role":"user","content":"x"}]})")->head.status, 400);
  EXPECT_EQ(status(R"({"model":"m","messages":[]})")->head.status, 400);
  EXPECT_EQ(status(R"({"model":"m","messages":[{"role":"robot","content":"x"}]})")->head.status, 400);
  EXPECT_EQ(status(R"({"model":"m","max_tokens":0,"messages":[{"role":"user","content":"x"}]})")->head.status,
            400);
}

TEST(Responses, StreamsTheFullOrderOfEvents) {
  const auto reply = ask("/v1/responses", R"({"model":"sim-gpt+words=2","input":"hi","stream":true})");
  const auto events = events_of(reply->body);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < events.size(); ++i) {
    names.push_back(events[i].name);
    EXPECT_EQ(JsonValue(events[i].data).member("sequence_number")->integer(), static_cast<std::int64_t>(i));
    EXPECT_EQ(JsonValue(events[i].data).member("type")->string(), events[i].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"response.created", "response.in_progress",
                                             "response.output_item.added", "response.content_part.added",
                                             "response.output_text.delta", "response.output_text.delta",
                                             "response.output_text.done", "response.content_part.done",
                                             "response.output_item.done", "response.completed"}));
}

TEST(Responses, TheCompletedEventHoldsThePlainAnswer) {
  const auto plain = ask("/v1/responses", R"({"model":"sim-gpt","input":"hi"})");
  const auto events =
      events_of(ask("/v1/responses", R"({"model":"sim-gpt","input":"hi","stream":true})")->body);
  EXPECT_EQ(JsonValue(events.back().data).member("response")->text(), plain->body);
}

TEST(Responses, CallsToolsAsItemsOfTheirOwnAndReasonsFirst) {
  const auto reply = ask(
      "/v1/responses",
      R"({"model":"sim-reasoner","input":"hi","stream":true,"tools":[{"type":"function","name":"weather",)"
      R"("parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]})");
  const auto events = events_of(reply->body);
  std::string arguments;
  for (const Event& event : events) {
    if (event.name == "response.function_call_arguments.delta") {
      arguments += JsonValue(event.data).member("delta")->string();
      EXPECT_EQ(JsonValue(event.data).member("output_index")->integer(), 1);
    }
  }
  EXPECT_FALSE(wire::check_json(arguments));
  EXPECT_THAT(events.back().data, HasSubstr(R"("output":[{"id":"rs_)"));
  EXPECT_THAT(events.back().data, HasSubstr(R"("type":"function_call","status":"completed")"));
}

TEST(Responses, EndIncompleteAtMaxOutputTokens) {
  const auto reply =
      ask("/v1/responses", R"({"model":"sim-gpt","input":"hi","stream":true,"max_output_tokens":2})");
  const auto events = events_of(reply->body);
  EXPECT_EQ(events.back().name, "response.incomplete");
  EXPECT_THAT(events.back().data, HasSubstr(R"("incomplete_details":{"reason":"max_output_tokens"})"));
}

TEST(Completions, AnswerWithTextAndStreamIt) {
  const auto plain = ask("/v1/completions", R"({"model":"sim-gpt+words=2","prompt":"hi"})");
  EXPECT_THAT(plain->body, HasSubstr(R"("choices":[{"text":" the bridge","index":0,)"));
  const auto stream = ask("/v1/completions", R"({"model":"sim-gpt+words=2","prompt":"hi","stream":true})");
  EXPECT_EQ(events_of(stream->body).size(), 4U);
}

TEST(Embeddings, AreUnitVectorsOfTheAskedDimensionsAndTheSameInBase64) {
  const auto floats = ask("/v1/embeddings", R"({"model":"sim-embedding","input":["a","b"],"dimensions":3})");
  JsonElements data(*JsonValue(floats->body).member("data"));
  ASSERT_TRUE(data.next());
  std::vector<float> vector;
  double square = 0;
  for (JsonElements items(*data.value().member("embedding")); items.next();) {
    vector.push_back(std::stof(std::string(items.value().text())));
    square += static_cast<double>(vector.back()) * static_cast<double>(vector.back());
  }
  ASSERT_EQ(vector.size(), 3U);
  EXPECT_NEAR(square, 1.0, 1e-5);
  const auto packed =
      ask("/v1/embeddings",
          R"({"model":"sim-embedding","input":["a","b"],"dimensions":3,"encoding_format":"base64"})");
  JsonElements same(*JsonValue(packed->body).member("data"));
  ASSERT_TRUE(same.next());
  const auto bytes = from_base64(same.value().member("embedding")->string());
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 12U);
  std::array<float, 3> unpacked{};
  std::memcpy(unpacked.data(), bytes->data(), 12);  // little-endian, as this machine is
  EXPECT_EQ(std::vector<float>(unpacked.begin(), unpacked.end()), vector);
}

TEST(Moderations, FlagWhatSoundsViolent) {
  const auto reply = ask("/v1/moderations", R"({"input":["a flower","I will kill it"]})");
  EXPECT_THAT(reply->body, HasSubstr(R"("results":[{"flagged":false)"));
  EXPECT_THAT(reply->body, HasSubstr(R"({"flagged":true)"));
}

TEST(Models, AreListedAndFoundById) {
  RequestText request = RequestText::make("GET", "/v1/models", "");
  EXPECT_THAT(respond(request, "", Script{}, Library{}).pieces[0].bytes, HasSubstr(R"("id":"sim-gpt")"));
  request.path = route_path("/v1/models/sim-gpt");
  EXPECT_EQ(respond(request, "sim-gpt", Script{}, Library{}).status, 200);
  EXPECT_EQ(respond(request, "gpt-9", Script{}, Library{}).status, 404);
}

TEST(Tokens, JoinedAreTheText) {
  for (const std::string_view text : {"", "Hello, world! ", "鹊桥 bridge 1234", "\xff\xfe", "a  b\n"}) {
    std::string joined;
    for (const std::string& piece : token_pieces(text)) joined += piece;
    EXPECT_EQ(joined, text);
  }
  EXPECT_EQ(token_pieces("Hello world"), (std::vector<std::string>{"Hello", " world"}));
  EXPECT_EQ(token_pieces("你好"), (std::vector<std::string>{"你", "好"}));
}

TEST(Base64, GoesThereAndBack) {
  for (const std::string_view text : {"", "f", "fo", "foo", "\x00\xff\x10"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_FALSE(from_base64("a"));
  EXPECT_FALSE(from_base64("a*=="));
}

std::string instance(std::string_view schema) {
  return schema_instance(JsonValue(schema), 7);
}

TEST(SchemaInstance, KeepsToTheLimitsOfEachType) {
  EXPECT_EQ(instance(R"({"type":"integer","minimum":100,"maximum":101})"), "100");
  EXPECT_EQ(instance(R"({"type":"integer","exclusiveMaximum":3,"minimum":2})"), "2");
  EXPECT_EQ(instance(R"({"type":"number","multipleOf":0.25,"maximum":0.3})"), "0.25");
  EXPECT_EQ(instance(R"({"enum":["b","a"]})"), "\"b\"");
  EXPECT_EQ(instance(R"({"const":null})"), "null");
  EXPECT_EQ(instance(R"({"type":"boolean"})"), "true");
  EXPECT_EQ(instance(R"({"type":"string","format":"date"})"), "\"2026-01-01\"");
  EXPECT_EQ(JsonValue(instance(R"({"type":"string","minLength":30,"maxLength":30})")).string().size(), 30U);
  EXPECT_EQ(JsonValue(instance(R"({"type":"string","maxLength":3})")).string().size(), 3U);
}

TEST(SchemaInstance, EndsHoweverMuchIsAskedFor) {
  std::string schema = R"({"type":"string"})";
  for (int i = 0; i < 4; ++i) schema = R"({"type":"array","minItems":100000,"items":)" + schema + "}";
  const std::string written = instance(schema);
  EXPECT_LT(written.size(), 2U << 20U);
  EXPECT_FALSE(wire::check_json(written));
}

TEST(SchemaInstance, FollowsReferencesAlternativesAndLists) {
  EXPECT_EQ(instance(R"({"type":"array","items":{"type":"integer","maximum":1},"minItems":3})"), "[1,1,1]");
  EXPECT_EQ(instance(R"({"anyOf":[{"type":"null"},{"const":5}]})"), "5");
  EXPECT_EQ(instance(R"({"type":["null","boolean"]})"), "true");
  EXPECT_EQ(
      instance(R"({"$defs":{"x":{"const":1}},"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}})"),
      R"({"a":1})");
  EXPECT_EQ(instance(R"({"allOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":{"const":2}}}]})"),
            R"({"a":1,"b":2})");
}

TEST(SchemaInstance, EndsForARecursiveSchema) {
  const std::string tree = instance(
      R"({"$defs":{"node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["next"]}},"$ref":"#/$defs/node"})");
  EXPECT_FALSE(wire::check_json(tree));
  EXPECT_LT(tree.size(), 1000U);
}

}  // namespace
}  // namespace qq::simulator
