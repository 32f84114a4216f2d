// What the vendors refuse, and that what they take passes.
#include "simulator/provider/checks/check.h"

#include <gmock/gmock.h>

#include "simulator/provider/signature.h"
#include "simulator/provider/test_spoken.h"

namespace qq::simulator {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using wire::JsonValue;

// "200", or the status and what the error says.
std::string verdict(std::string_view target, const std::string& body, std::string_view head) {
  const auto reply = read_reply(bytes_of(play_of(target, body, {}, head)));
  return reply->head.status == 200 ? "200" : fmt::format("{} {}", reply->head.status, reply->body);
}

TEST(Checks, EachVendorWantsItsCredentialAndItsHeaders) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    const std::string body = with_model(tongue.body, "sim-x") + std::string(tongue.whole_member) + "}";
    const std::string target = with_model(tongue.whole, "sim-x");
    EXPECT_EQ(verdict(target, body, tongue.head), "200");
    if (tongue.head.empty()) continue;
    const std::string bare = verdict(target, body, "");
    EXPECT_TRUE(bare.starts_with("401") || bare.starts_with("403")) << bare;
    const std::string lenient = with_model(tongue.whole, "sim-x+strict=off");
    EXPECT_EQ(
        verdict(lenient, with_model(tongue.body, "sim-x+strict=off") + std::string(tongue.whole_member) + "}",
                ""),
        "200");
  }
  const std::string body = R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]})";
  EXPECT_THAT(verdict("/v1/messages", body, "x-api-key: k\r\n"), HasSubstr("anthropic-version"));
  EXPECT_EQ(
      verdict("/v1beta/models/g:generateContent?key=k", R"({"contents":[{"parts":[{"text":"x"}]}]})", ""),
      "200");
  const std::string converse = R"({"messages":[{"role":"user","content":[{"text":"x"}]}]})";
  EXPECT_THAT(verdict("/model/m/converse", converse, "authorization: AWS4-HMAC-SHA256 Credential=a\r\n"),
              HasSubstr("403"));
  EXPECT_EQ(verdict("/model/m/converse", converse, kBearerHead), "200");
}

// What a verdict must be: "200", or hold these words.
::testing::Matcher<std::string> is_verdict(std::string_view why) {
  if (why == "200") return ::testing::Eq(std::string(why));
  return HasSubstr(std::string(why));
}

constexpr std::string_view kUse = R"({"type":"tool_use","id":"toolu_1","name":"f","input":{}})";

TEST(Checks, AnthropicsRules) {
  const std::string signature = make_signature(model::Dialect::Anthropic, 7);
  const auto with = [](std::string_view messages, std::string_view more = "") {
    return fmt::format(R"({{"model":"m","max_tokens":2000,"messages":[{}]{}}})", messages, more);
  };
  const std::string user = R"({"role":"user","content":"x"},)";
  const std::string call = fmt::format(R"({{"role":"assistant","content":[{}]}})", kUse);
  const std::string answer =
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"y"}]})";
  const std::string thought =
      fmt::format(R"({{"type":"thinking","thinking":"t","signature":"{}"}})", signature);
  const std::vector<std::pair<std::string, std::string_view>> cases{
      {with(R"({"role":"user","content":"x"})"), "200"},
      {with(user + call + "," + answer), "200"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}]})", "max_tokens: Field required"},
      {with(R"({"role":"system","content":"x"})"), "Unexpected role"},
      {with(R"({"role":"assistant","content":"x"})"), "first message must use the \\\"user\\\" role"},
      {with(R"({"role":"user","content":[{"type":"text","text":""}]})"), "must be non-empty"},
      {with(user + call + R"(,{"role":"user","content":"go on"})"), "without `tool_result` blocks"},
      {with(user + call), "without `tool_result` blocks"},
      {with(user + R"({"role":"assistant","content":"y"},)" + answer), "unexpected `tool_use_id`"},
      {with(
           user + call +
           R"(,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"toolu_1"}]})"),
       "must come first"},
      {with(user +
            R"({"role":"assistant","content":[{"type":"tool_use","id":"a b","name":"f","input":{}}]})"),
       "should match pattern"},
      {with(user +
            R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"{}"}]})"),
       "valid dictionary"},
      {with(R"({"role":"user","content":"x"})", R"(,"response_format":{})"),
       "Extra inputs are not permitted"},
      {with(R"({"role":"user","content":"x"})", R"(,"temperature":1.5)"), "temperature"},
      {with(R"({"role":"user","content":"x"})", R"(,"tools":[{"name":"f"}])"), "input_schema"},
      {with(R"({"role":"user","content":"x"})", R"(,"thinking":{"type":"enabled","budget_tokens":4000})"),
       "must be greater than"},
      {with(
           R"({"role":"user","content":"x"})",
           R"(,"thinking":{"type":"adaptive"},"tool_choice":{"type":"any"},"tools":[{"name":"f","input_schema":{"type":"object"}}])"),
       "forces tool use"},
      {with(user + R"({"role":"assistant","content":[)" + thought + "," + std::string(kUse) + "]}," + answer,
            R"(,"thinking":{"type":"adaptive"})"),
       "200"},
      {with(user + call + "," + answer, R"(,"thinking":{"type":"adaptive"})"), "Expected `thinking`"},
      {with(user + call + "," + answer +
                R"(,{"role":"assistant","content":"y"},{"role":"user","content":"z"})",
            R"(,"thinking":{"type":"adaptive"})"),
       "200"},
      {with(user +
            R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"made up"},)" +
            std::string(kUse) + "]}," + answer),
       "Invalid `signature`"},
      {with(user + R"({"role":"assistant","content":"so "})"), "trailing whitespace"},
  };
  for (const auto& [body, why] : cases) {
    const std::string said = verdict("/v1/messages", body, kAnthropicHead);
    EXPECT_THAT(said, is_verdict(why)) << body;
    if (why != "200")
      EXPECT_THAT(said, HasSubstr(R"({"type":"error","error":{"type":"invalid_request_error")"));
  }
}

TEST(Checks, TheEnvelopesOfAnthropicsMessages) {
  const std::string turn = R"("max_tokens":9,"messages":[{"role":"user","content":"x"}])";
  const std::string vertex = "/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict";
  EXPECT_THAT(verdict(vertex, "{" + turn + "}", kBearerHead), HasSubstr("anthropic_version"));
  EXPECT_THAT(
      verdict(vertex, R"({"model":"c","anthropic_version":"vertex-2023-10-16",)" + turn + "}", kBearerHead),
      HasSubstr("model: Extra inputs"));
  EXPECT_THAT(verdict("/model/c/invoke",
                      R"({"stream":true,"anthropic_version":"bedrock-2023-05-31",)" + turn + "}", kAwsHead),
              HasSubstr("stream: Extra inputs"));
  EXPECT_THAT(
      verdict("/v1/messages", R"({"model":"m","anthropic_version":"bedrock-2023-05-31",)" + turn + "}",
              kAnthropicHead),
      HasSubstr("anthropic_version: Extra inputs"));
}

TEST(Checks, WhatABetaAddsIsNotKnown) {
  const std::string body =
      R"({"model":"m","new_word":1,"max_tokens":9,"messages":[{"role":"user","content":"x"}]})";
  EXPECT_THAT(verdict("/v1/messages", body, kAnthropicHead), HasSubstr("new_word: Extra inputs"));
  EXPECT_EQ(verdict("/v1/messages", body, std::string(kAnthropicHead) + "anthropic-beta: new-2026-01-01\r\n"),
            "200");
}

TEST(Checks, GooglesRules) {
  const std::string signature = make_signature(model::Dialect::Gemini, 7);
  const std::string foreign = make_signature(model::Dialect::Anthropic, 7);
  const std::string user = R"({"role":"user","parts":[{"text":"x"}]},)";
  const auto call = [](std::string_view more) {
    return fmt::format(R"({{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{{}}}}{}}}]}},)",
                       more);
  };
  const std::string answer =
      R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]})";
  const auto with = [](std::string_view contents, std::string_view more = "") {
    return fmt::format(R"({{"contents":[{}]{}}})", contents, more);
  };
  const auto schema = [](std::string_view inner) {
    return fmt::format(
        R"(,"tools":[{{"functionDeclarations":[{{"name":"f","parameters":{{"type":"OBJECT",{}}}}}]}}])",
        inner);
  };
  const std::string plain = R"({"role":"user","parts":[{"text":"x"}]})";
  const std::vector<std::tuple<std::string_view, std::string, std::string_view>> cases{
      {"g", with(plain), "200"},
      {"g", with(user + call("") + answer), "200"},
      {"g", R"({"contents":[]})", "contents is not specified"},
      {"g", with(plain, R"(,"messages":[])"), "Unknown name \\\"messages\\\""},
      {"g", with(plain, R"(,"generationConfig":{"maxTokens":3})"), "Unknown name \\\"maxTokens\\\""},
      {"g", with(plain, R"(,"generation_config":{"max_output_tokens":3})"), "200"},
      {"g", with(plain, schema(R"("additionalProperties":false)")), "additionalProperties"},
      {"g", with(plain, schema(R"("properties":{"a":{"$ref":"x"}})")), "parameters.properties[0].value"},
      {"g", with(R"({"role":"assistant","parts":[{"text":"x"}]})"), "valid role"},
      {"g", with(user + call("") + plain), "number of function response parts"},
      {"g", with(user + answer), "number of function response parts"},
      {"g",
       with(user + R"({"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}}]},)" +
            R"({"role":"user","parts":[{"functionResponse":{"id":"2","name":"f","response":{}}}]})"),
       "does not match any function call"},
      {"g", with(R"({"role":"user","parts":[{}]})"), "required oneof field"},
      {"g", with(user + call(fmt::format(R"(,"thoughtSignature":"{}")", foreign)) + answer),
       "signature is not valid"},
      {"gemini-3-pro", with(user + call("") + answer), "missing a thought_signature"},
      {"gemini-3-pro", with(user + call(fmt::format(R"(,"thoughtSignature":"{}")", signature)) + answer),
       "200"},
      {"gemini-3-pro",
       with(user + call(R"(,"thought_signature":"skip_thought_signature_validator")") + answer), "200"},
      {"gemini-3-pro",
       with(user + call("") + answer + R"(,{"role":"model","parts":[{"text":"y"}]},)" + plain), "200"},
      {"sim-x+signatures=required", with(user + call("") + answer), "missing a thought_signature"},
  };
  for (const auto& [name, body, why] : cases) {
    EXPECT_THAT(verdict(fmt::format("/v1beta/models/{}:generateContent", name), body, kGoogleHead),
                is_verdict(why))
        << name << body;
  }
  EXPECT_THAT(verdict("/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
                      R"({"contents":[{"parts":[{"text":"x"}]}]})", kBearerHead),
              HasSubstr("valid role"));
}

TEST(Checks, ConversesRules) {
  const std::string user = R"({"role":"user","content":[{"text":"x"}]},)";
  const std::string call =
      R"({"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},)";
  const std::string answer =
      R"({"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"y"}]}}]})";
  const std::string tools =
      R"(,"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]})";
  const auto with = [](std::string_view messages, std::string_view more = "") {
    return fmt::format(R"({{"messages":[{}]{}}})", messages, more);
  };
  const std::string plain = R"({"role":"user","content":[{"text":"x"}]})";
  const std::vector<std::pair<std::string, std::string_view>> cases{
      {with(user + call + answer, tools), "200"},
      {with(user + call + answer), "toolConfig field must be defined"},
      {with(user + plain), "must alternate"},
      {with(R"({"role":"assistant","content":[{"text":"x"}]})"), "must start with a user message"},
      {with(R"({"role":"user","content":[{"text":" "}]})"), "is blank"},
      {with(R"({"role":"user","content":[]})"), "is empty"},
      {with(user + call + plain, tools), "Expected toolResult blocks at messages.2.content"},
      {with(answer, tools), "exceeds the number of toolUse blocks"},
      {with(user +
                R"({"role":"assistant","content":[{"toolUse":{"toolUseId":"a b","name":"f","input":{}}}]},)" +
                answer,
            tools),
       "regular expression"},
      {with(plain, R"(,"toolConfig":{"tools":[]})"), "greater than or equal to 1"},
      {with(
           user +
           R"({"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"x"}}}]},)" +
           plain),
       "Invalid `signature`"},
  };
  for (const auto& [body, why] : cases)
    EXPECT_THAT(verdict("/model/m/converse", body, kAwsHead), is_verdict(why)) << body;
}

TEST(Checks, ToolIdsOfOpenAisDialectsBelongTogether) {
  const auto chat = [](std::string_view id, std::string_view result, std::string_view more = "") {
    return fmt::format(
        R"({{"model":"sim-x","messages":[{{"role":"user","content":"x"}},)"
        R"({{"role":"assistant","tool_calls":[{{"id":"{}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},)"
        R"({{"role":"tool","tool_call_id":"{}","content":"y"}}]{}}})",
        id, result, more);
  };
  EXPECT_EQ(verdict("/v1/chat/completions", chat("a", "a"), ""), "200");
  EXPECT_THAT(verdict("/v1/chat/completions", chat("a", "b"), ""), HasSubstr("must be a response to"));
  EXPECT_THAT(
      verdict(
          "/v1/chat/completions",
          R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x"}]})",
          ""),
      HasSubstr("did not have response messages: a"));
  EXPECT_THAT(
      verdict(
          "/v1/chat/completions",
          R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}]})",
          ""),
      HasSubstr("expected a string"));
  EXPECT_EQ(verdict("/mistral/v1/chat/completions", chat("abcDEF123", "abcDEF123"), ""), "200");
  EXPECT_THAT(verdict("/mistral/v1/chat/completions", chat("call_1", "call_1"), ""),
              HasSubstr("length of 9"));
  EXPECT_THAT(verdict("/mistral/v1/chat/completions", chat("abcDEF123", "abcDEF123", ",\"seed\":1"), ""),
              HasSubstr("422"));
  const auto responses = [](std::string_view items, std::string_view more = "") {
    return fmt::format(R"({{"model":"m","input":[{{"role":"user","content":"x"}}{}]{}}})", items, more);
  };
  constexpr std::string_view kCall = R"(,{"type":"function_call","call_id":"a","name":"f","arguments":"{}"})";
  constexpr std::string_view kOutput = R"(,{"type":"function_call_output","call_id":"a","output":"y"})";
  EXPECT_EQ(verdict("/v1/responses", responses(std::string(kCall) + std::string(kOutput)), ""), "200");
  EXPECT_THAT(verdict("/v1/responses", responses(kOutput), ""), HasSubstr("No tool call found"));
  EXPECT_THAT(verdict("/v1/responses", responses(kCall), ""), HasSubstr("No tool output found"));
  EXPECT_EQ(verdict("/v1/responses", responses(kOutput, R"(,"previous_response_id":"resp_1")"), ""), "200");
}

TEST(Checks, WhatOpenAIKnowsByItsIdIsUnknownWhereNothingIsStored) {
  const auto asked = [](std::string_view items, std::string_view more = R"(,"store":false)",
                        std::string_view model = "o4-mini") {
    return verdict("/v1/responses",
                   fmt::format(R"({{"model":"{}","input":[{{"role":"user","content":"x"}}{}{}]{}}})", model,
                               items, R"(,{"role":"user","content":"y"})", more),
                   "");
  };
  constexpr std::string_view kThought =
      R"(,{"type":"reasoning","id":"rs_12345678","summary":[],"encrypted_content":"gAAAAx"})";
  constexpr std::string_view kHollow = R"(,{"type":"reasoning","id":"rs_12345678","summary":[]})";
  constexpr std::string_view kSaid =
      R"(,{"type":"message","id":"msg_0r12345678","role":"assistant","content":"z"})";
  const std::string whole = std::string(kThought) + std::string(kSaid);
  const std::string hollow = std::string(kHollow) + std::string(kSaid);
  EXPECT_EQ(asked(whole), "200");
  EXPECT_THAT(asked(hollow), HasSubstr("404"));
  EXPECT_THAT(asked(hollow), HasSubstr("Items are not persisted when `store` is set to false"));
  EXPECT_EQ(asked(hollow, ""), "200") << "it may be stored";
  EXPECT_THAT(asked(R"(,{"type":"item_reference","id":"msg_1"})"), HasSubstr("Items are not persisted"));
  EXPECT_THAT(asked(kSaid), HasSubstr("without its required 'reasoning' item"));
  EXPECT_EQ(asked(R"(,{"type":"message","role":"assistant","content":"z"})"), "200");
  EXPECT_THAT(asked(kThought), HasSubstr("without its required following item"));
  EXPECT_THAT(asked(R"(,{"type":"reasoning","summary":[],"encrypted_content":"qq1x"})"),
              HasSubstr("could not be verified"));
  constexpr std::string_view kInclude = R"(,"store":false,"include":["reasoning.encrypted_content"])";
  EXPECT_EQ(asked("", kInclude), "200");
  EXPECT_THAT(asked("", kInclude, "gpt-4o"),
              HasSubstr("Encrypted content is not supported with this model."));
}

TEST(Checks, CoheresAndOllamasRules) {
  const auto cohere = [](std::string_view messages) {
    return verdict("/v2/chat", fmt::format(R"({{"model":"m","messages":[{}]}})", messages), kBearerHead);
  };
  EXPECT_THAT(cohere(""), HasSubstr("at least one element"));
  EXPECT_THAT(cohere(R"({"role":"user","content":"x"},{"role":"assistant","content":"y"})"),
              HasSubstr("last message"));
  EXPECT_THAT(cohere(R"({"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"y"})"),
              HasSubstr("tool_call_id a not found"));
  const auto ollama = [](std::string_view arguments) {
    return verdict(
        "/api/chat",
        fmt::format(R"({{"model":"m","stream":false,"messages":[{{"role":"assistant","content":"",)"
                    R"("tool_calls":[{{"function":{{"name":"f","arguments":{}}}}}]}},)"
                    R"({{"role":"tool","tool_name":"f","content":"y"}}]}})",
                    arguments),
        "");
  };
  EXPECT_EQ(ollama("{}"), "200");
  EXPECT_THAT(ollama("\"{}\""), HasSubstr("cannot unmarshal string"));
}

}  // namespace
}  // namespace qq::simulator
