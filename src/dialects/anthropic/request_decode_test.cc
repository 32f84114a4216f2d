// What a client's request means, and what is refused with which words.
#include <fakes/anthropic.h>

#include "dialects/carried_state.h"

namespace qq::dialects::anthropic {
namespace {

using qq::testing::describe;
using testing::decoded;
using testing::why_refused;

constexpr std::string_view kHello = R"("messages":[{"role":"user","content":"hi"}])";

std::string with(std::string_view members) {
  return R"({"model":"m","max_tokens":10,)" + std::string(kHello) + "," + std::string(members) + "}";
}

TEST(AnthropicRequest, EveryMemberHasItsPlace) {
  EXPECT_EQ(describe(decoded(R"({
    "model": "claude-x", "max_tokens": 100, "stream": true, "temperature": 0.5, "top_p": 0.25, "top_k": 7,
    "stop_sequences": ["a", "b"], "system": [{"type":"text","text":"be brief","cache_control":{"type":"ephemeral","ttl":"1h"}}],
    "messages": [
      {"role":"user","content":[
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
        {"type":"image","source":{"type":"url","url":"https://e.org/a.png"}},
        {"type":"document","source":{"type":"file","file_id":"file_1"},"title":"t","citations":{"enabled":true}},
        {"type":"text","text":"what\n?"}]},
      {"role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"c2ln"},
        {"type":"redacted_thinking","data":"cmVk"},
        {"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1.50}},
        {"type":"server_tool_use","id":"s","name":"web_search","input":{}}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"ok"}],"is_error":true}]}],
    "tools": [{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"}},
              {"type":"web_search_20250305","name":"web_search","max_uses":3}],
    "tool_choice": {"type":"tool","name":"f","disable_parallel_tool_use":true},
    "thinking": {"type":"enabled","budget_tokens":2000,"display":"omitted"},
    "output_config": {"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}},"task_budget":{"n":1}},
    "metadata": {"user_id":"u1"}, "service_tier": "standard_only", "container": "c1"})")),
            R"(request anthropic model=claude-x stream usage_in_stream
  system
    text "be brief" cache 1h
  user
    image base64 "AAAA" image/png
    image url "https://e.org/a.png" 
    file file_id "file_1"  name "t" +citations={"enabled":true}
    text "what\n?"
  assistant
    reasoning "hm" state anthropic:c2ln
    reasoning_redacted "" state anthropic:cmVk
    call toolu_1 f {"a": 1.50}
    opaque anthropic server_tool_use {"type":"server_tool_use","id":"s","name":"web_search","input":{}}
  user
    result of toolu_1 f error
      text "ok"
  tool function f "d" {"type":"object"} strict cache
  tool hosted web_search "" {"type":"web_search_20250305","name":"web_search","max_uses":3}
  tool_choice required f
  not_parallel
  output json_schema  {"type":"object"}
  reasoning effort high budget 2000 hide
  temperature 0.500000
  top_p 0.250000
  top_k 7
  max_output_tokens 100
  stop "a"
  stop "b"
  user u1
  service_tier default
  +output_config.task_budget={"n":1}
  +container="c1"
)");
}

TEST(AnthropicRequest, ThinkingIsSaidInOneOfThreeWays) {
  EXPECT_EQ(decoded(with(R"("thinking":{"type":"adaptive"})")).reasoning->budget_tokens, -1);
  EXPECT_EQ(decoded(with(R"("thinking":{"type":"disabled"})")).reasoning->budget_tokens, 0);
  EXPECT_EQ(decoded(with(R"("thinking":null)")).reasoning, std::nullopt);
}

TEST(AnthropicRequest, TheOlderNameOfStructuredOutputIsTaken) {
  const auto request = decoded(with(R"("output_format":{"type":"json_schema","schema":{"type":"object"}})"));
  ASSERT_TRUE(request.output);
  EXPECT_EQ(request.output->schema, R"({"type":"object"})");
}

TEST(AnthropicRequest, BetasOfTheHeaderAndOfTheBodyAreOneField) {
  const auto request =
      decoded(with(R"("anthropic_beta":["c"],"anthropic_version":"bedrock-2023-05-31")"), {.beta = "a,b"});
  ASSERT_EQ(request.extra.size(), 1U);
  EXPECT_EQ(request.extra[0].key, "anthropic-beta");
  EXPECT_EQ(request.extra[0].value, R"("a,b,c")");
}

TEST(AnthropicRequest, SystemStandsFirstWhereverItStood) {
  const auto request = decoded(with(R"("system":"be brief")"));
  ASSERT_EQ(request.turns.size(), 2U);
  EXPECT_EQ(request.turns[0].role, model::Role::System);
}

TEST(AnthropicRequest, EmptyTextsAndListsAreNothing) {
  const auto request =
      decoded(R"({"model":"m","max_tokens":1,"system":[],"messages":[{"role":"user","content":""}]})");
  ASSERT_EQ(request.turns.size(), 1U);
  EXPECT_TRUE(request.turns[0].parts.empty());
}

TEST(AnthropicRequest, WhatIdsCarryIsPutBack) {
  Carried carried;
  carried.call = {model::Dialect::Gemini, "thought-signature"};
  carried.reasoning.push_back(testing::thought("before", {model::Dialect::OpenAiResponses, "enc"}));
  const std::string id = *with_carried("call_1", carried);
  const auto request = decoded(
      R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":")" +
      id + R"(","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":")" +
      id + R"("}]}]})");
  EXPECT_EQ(
      qq::testing::describe_parts(request.turns[1].parts, ""),
      "reasoning \"before\" state openai_responses:enc\ncall call_1 f {} state gemini:thought-signature\n");
  EXPECT_EQ(qq::testing::describe_parts(request.turns[2].parts, ""), "result of call_1 f\n");
}

TEST(AnthropicRequest, ASignatureOfAnotherMakersIsItsState) {
  const std::string field = state_field({model::Dialect::Gemini, "sig"}, model::Dialect::Anthropic);
  const auto request = decoded(
      R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":")" +
      field + R"("}]}]})");
  EXPECT_EQ(request.turns[1].parts[0].state, (model::OpaqueState{model::Dialect::Gemini, "sig"}));
}

TEST(AnthropicRequest, RefusalsNameTheField) {
  EXPECT_EQ(why_refused(R"({"model":"m","max_tokens":1})"), "messages: Field required");
  EXPECT_EQ(why_refused(R"({"max_tokens":1,)" + std::string(kHello) + "}"), "model: Field required");
  EXPECT_EQ(why_refused(R"({"model":"m",)" + std::string(kHello) + "}"), "max_tokens: Field required");
  EXPECT_EQ(why_refused(R"({"model":"m","max_tokens":1,"messages":["x"]})"),
            "messages.0: Input should be a valid dictionary");
  EXPECT_EQ(
      why_refused(R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text"}]}]})"),
      "messages.0.content.0.text: Field required");
  EXPECT_EQ(why_refused(R"({"model":"m","max_tokens":1,"messages":[{"role":"tool","content":"x"}]})"),
            "messages.0.role: Input should be 'user' or 'assistant'");
  EXPECT_EQ(why_refused(with(R"("tools":[{"name":"f"}])")), "tools.0.input_schema: Field required");
  EXPECT_EQ(why_refused(with(R"("thinking":{"type":"enabled"})")), "thinking.budget_tokens: Field required");
  EXPECT_EQ(why_refused(with(R"("temperature":"x")")), "temperature: Input should be a valid number");
  EXPECT_EQ(why_refused(with(R"("cache_control":{"type":"ephemeral","ttl":"2h"})")),
            "cache_control.ttl: Input should be '5m' or '1h'");
  EXPECT_EQ(why_refused(with(R"("anthropic-beta":"x\r\ny: z")")), "anthropic-beta: this is a header");
  EXPECT_THAT(why_refused("{"), ::testing::StartsWith("The request body is not valid JSON"));
}

TEST(AnthropicRequest, KeysThatAreActedOnStandOnceAndPlainly) {
  EXPECT_EQ(why_refused(with(R"("model":"n")")), "model: the key is given twice");
  EXPECT_EQ(why_refused(with("\"m\\u0065tadata\":{}")), "metadata: the key is written with escapes");
}

TEST(AnthropicRequest, TokensAreCountedWithoutALimit) {
  const auto request = decode_count_request(R"({"model":"m",)" + std::string(kHello) + "}", {});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->sampling.max_output_tokens, std::nullopt);
  EXPECT_EQ(encode_count(641), R"({"input_tokens":641})");
}

}  // namespace
}  // namespace qq::dialects::anthropic
