// A conversation that moves to another provider and back: what one provider's answer left in it through a
// translation (signatures, sealed thoughts, long ids) does not reach a provider of the client's own dialect,
// which would refuse it, and comes back to its maker.
#include <fmt/format.h>

#include "fakes/http_script.h"
#include "simulation/world.h"
#include "wire/json.h"

namespace qq::simulation::foreign_state {
namespace {

using wire::JsonValue;

// Who asks, who answers instead, and what the conversation looks like.
struct Case {
  std::string_view name;
  std::string_view own;    // kind of the provider that speaks the client's dialect
  std::string_view other;  // and of the one behind it
  std::string_view path;
  std::string_view question;        // {} is the history behind the first turn
  std::string_view answer_pointer;  // members and first elements down to what the client sends back
  std::string_view turn;            // {0} is that, {1} the id of the call in it
  std::string_view id_key;          // of the call's id
  std::string_view others_answer;
  std::string_view owns_answer;
  std::string_view state;  // what the other one wants back, and the own one must not see
};

constexpr std::string_view kClaudeSays =
    R"({"id":"msg_1","type":"message","role":"assistant","model":"real-model","content":[)"
    R"({"type":"thinking","thinking":"It asks.","signature":"SIGNED-BY-CLAUDE"},)"
    R"({"type":"tool_use","id":"toolu_1","name":"look","input":{"at":"it"}}],)"
    R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":9}})";
constexpr std::string_view kGptSays =
    R"({"id":"resp_1","object":"response","status":"completed","model":"real-model","output":[)"
    R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"It asks."}],)"
    R"("encrypted_content":"SEALED-BY-GPT"},{"type":"function_call","id":"fc_1","call_id":"call_1",)"
    R"("name":"look","arguments":"{\"at\":\"it\"}","status":"completed"}],)"
    R"("usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18}})";
constexpr std::string_view kGeminiSays =
    R"({"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":"it"}},)"
    R"("thoughtSignature":"c2lnbmVkLWJ5LWdlbWluaQ=="}]},"finishReason":"STOP","index":0}],)"
    R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":9,"totalTokenCount":18}})";
constexpr std::string_view kChatSays =
    R"({"id":"c1","object":"chat.completion","created":1,"model":"real-model","choices":[{"index":0,)"
    R"("message":{"role":"assistant","content":"It is there."},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}})";
constexpr std::string_view kDeepSeekSays =
    R"({"id":"c1","object":"chat.completion","created":1,"model":"real-model","choices":[{"index":0,)"
    R"("message":{"role":"assistant","content":"","reasoning_content":"NOT-SIGNED","tool_calls":[)"
    R"({"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\":\"it\"}"}}]},)"
    R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}})";
constexpr std::string_view kClaudeEnds =
    R"({"id":"msg_2","type":"message","role":"assistant","model":"real-model","content":[)"
    R"({"type":"text","text":"It is there."}],"stop_reason":"end_turn","stop_sequence":null,)"
    R"("usage":{"input_tokens":9,"output_tokens":4}})";
constexpr std::string_view kGptEnds =
    R"({"id":"resp_2","object":"response","status":"completed","model":"real-model","output":[)"
    R"({"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[)"
    R"({"type":"output_text","text":"It is there.","annotations":[]}]}],)"
    R"("usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}})";
constexpr std::string_view kGeminiEnds =
    R"({"candidates":[{"content":{"role":"model","parts":[{"text":"It is there."}]},)"
    R"("finishReason":"STOP","index":0}],)"
    R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}})";

constexpr std::string_view kAnthropicAsks =
    R"({{"model":"asked","max_tokens":4000,"thinking":{{"type":"enabled","budget_tokens":2000}},"of_tomorrow":1,)"
    R"("tools":[{{"name":"look","input_schema":{{"type":"object"}}}}],)"
    R"("messages":[{{"role":"user","content":"Where is it?"}}{}]}})";
constexpr std::string_view kAnthropicTurn =
    R"(,{{"role":"assistant","content":{0}}},{{"role":"user","content":[{{"type":"tool_result",)"
    R"("tool_use_id":"{1}","content":"There."}}]}})";
constexpr std::string_view kResponsesAsks =
    R"({{"model":"asked","store":false,"include":["reasoning.encrypted_content"],"of_tomorrow":1,)"
    R"("reasoning":{{"effort":"low"}},)"
    R"("tools":[{{"type":"function","name":"look","parameters":{{"type":"object"}}}}],)"
    R"("input":[{{"role":"user","content":"Where is it?"}}{}]}})";

const Case kCases[] = {
    {"AnthropicClient", "anthropic", "openai", "/v1/messages", kAnthropicAsks, "content", kAnthropicTurn,
     "id", kGptSays, kClaudeEnds, "SEALED-BY-GPT"},
    {"AnthropicClientWithUnsignedThoughts", "anthropic", "deepseek", "/v1/messages", kAnthropicAsks,
     "content", kAnthropicTurn, "id", kDeepSeekSays, kClaudeEnds, "NOT-SIGNED"},
    {"ChatClient", "openai_compatible", "gemini", "/v1/chat/completions",
     R"({{"model":"asked","of_tomorrow":1,)"
     R"("tools":[{{"type":"function","function":{{"name":"look","parameters":{{"type":"object"}}}}}}],)"
     R"("messages":[{{"role":"user","content":"Where is it?"}}{}]}})",
     "choices message", R"(,{0},{{"role":"tool","tool_call_id":"{1}","content":"There."}})", "id",
     kGeminiSays, kChatSays, "c2lnbmVkLWJ5LWdlbWluaQ=="},
    {"ResponsesClient", "openai", "anthropic", "/v1/responses", kResponsesAsks, "output",
     R"(,{0},{{"type":"function_call_output","call_id":"{1}","output":"There."}})", "call_id", kClaudeSays,
     kGptEnds, "SIGNED-BY-CLAUDE"},
    {"ResponsesClientWithUnsignedThoughts", "openai", "sglang", "/v1/responses", kResponsesAsks, "output",
     R"(,{0},{{"type":"function_call_output","call_id":"{1}","output":"There."}})", "call_id", kDeepSeekSays,
     kGptEnds, "NOT-SIGNED"},
    {"GeminiClient", "gemini", "anthropic", "/v1beta/models/asked:generateContent",
     R"({{"contents":[{{"role":"user","parts":[{{"text":"Where is it?"}}]}}{}],"ofTomorrow":1,)"
     R"("generationConfig":{{"thinkingConfig":{{"thinkingBudget":2000,"includeThoughts":true}}}},)"
     R"("tools":[{{"functionDeclarations":[{{"name":"look"}}]}}]}})",
     "candidates content",
     R"(,{0},{{"role":"user","parts":[{{"functionResponse":{{"id":"{1}","name":"look",)"
     R"("response":{{"output":"There."}}}}}}]}})",
     "id", kClaudeSays, kGeminiEnds, "SIGNED-BY-CLAUDE"},
};

WorldSetup setup_of(const Case& of) {
  WorldSetup setup;
  setup.providers = 0;
  setup.config = "listeners: [{address: \"127.0.0.1:8080\"}]\nproviders:\n";
  for (const auto& [name, kind] : {std::pair("own", of.own), std::pair("other", of.other)}) {
    setup.config += fmt::format(
        "  - {{name: {}, kind: {}, base_url: \"http://127.0.0.1:9101/{}\", allow_private_address: true, "
        "accounts: [{{name: main, credential: sk-upstream}}]}}\n",
        name, kind, name);
  }
  setup.config +=
      "models:\n"
      "  - {name: m0, provider: own, upstream_name: real-model, can: [reasoning]}\n"
      "  - {name: m1, provider: other, upstream_name: real-model, can: [reasoning]}\n"
      "routes:\n"
      "  - {name: asked, candidates: [{model: m0}], fallback: [{model: m1}]}\n";
  return setup;
}

class ForeignState : public ::testing::TestWithParam<Case> {
 protected:
  const Case& of() const { return GetParam(); }

  Exchange ask(std::string_view history) {
    Ask ask;
    ask.path = of().path;
    ask.body = fmt::format(fmt::runtime(of().question), history);
    return world_.ask(ask.with_header("openai-beta", "of=tomorrow"));
  }
  // What the client puts behind its question when it has this answer.
  std::string next_turn(const Exchange& heard) {
    JsonValue at(heard.reply.body);
    std::string_view pointer = of().answer_pointer;
    while (!pointer.empty()) {
      const std::size_t end = std::min(pointer.find(' '), pointer.size());
      if (at.is_array()) {
        wire::JsonElements first(at);
        if (first.next()) at = first.value();
      }
      at = at.member(pointer.substr(0, end)).value_or(JsonValue());
      pointer.remove_prefix(std::min(end + 1, pointer.size()));
    }
    std::string said(at.text());
    const std::string key = fmt::format("\"{}\":\"", of().id_key);
    // A call stands last.
    const std::size_t id = said.rfind(key) + key.size();
    const std::string call(said.substr(id, said.find('"', id) - id));
    if (of().answer_pointer == "output") said = said.substr(1, said.size() - 2);
    return fmt::format(fmt::runtime(of().turn), said, call);
  }
  std::string_view body_of_last_request() const {
    const std::string& request = provider_.requests.back();
    return std::string_view(request).substr(request.find("\r\n\r\n"));
  }
  bool last_went_to(std::string_view name) const {
    return provider_.requests.back().find(fmt::format(" /{}/", name)) != std::string::npos;
  }

  World world_{setup_of(GetParam())};
  fakes::HttpScript provider_{world_.loop(), "127.0.0.1:9101"};
};

TEST_P(ForeignState, GoesToItsMakerOnly) {
  const std::string theirs(of().others_answer);
  const std::string own(of().owns_answer);
  provider_.replies = {{.status = 503, .body = "{}"},
                       {.body = theirs},
                       {.body = own},
                       {.status = 503, .body = "{}"},
                       {.body = theirs}};
  const Exchange first = ask("");
  ASSERT_EQ(first.story(), "overloaded,success") << first.reply.body;
  ASSERT_TRUE(last_went_to("other"));
  const std::string history = next_turn(first);
  ASSERT_NE(history.find("qq1"), std::string::npos) << history;

  const Exchange second = ask(history);
  ASSERT_EQ(second.story(), "success") << second.reply.body;
  ASSERT_TRUE(last_went_to("own"));
  const std::string_view sent = body_of_last_request();
  EXPECT_EQ(sent.find("qq1"), std::string_view::npos) << sent;
  EXPECT_EQ(sent.find(of().state), std::string_view::npos) << sent;
  EXPECT_EQ(sent.find("\"signature\""), std::string_view::npos) << sent;
  EXPECT_NE(sent.find("There."), std::string_view::npos) << sent;
  EXPECT_TRUE(sent.find("of_tomorrow") != std::string_view::npos ||
              sent.find("ofTomorrow") != std::string_view::npos)
      << "what nobody here knows goes on: " << sent;
  const bool has_header = provider_.requests.back().find("openai-beta: of=tomorrow\r\n") != std::string::npos;
  EXPECT_EQ(has_header, of().own != "anthropic") << provider_.requests.back();
  EXPECT_EQ(sent.find("budget_tokens"), std::string_view::npos)
      << "Claude does not think in the middle of another's tool loop: " << sent;
  EXPECT_NE(second.reply.body.find("It is there."), std::string::npos) << second.reply.body;

  const Exchange third = ask(history);
  ASSERT_EQ(third.story(), "overloaded,success") << third.reply.body;
  ASSERT_TRUE(last_went_to("other"));
  EXPECT_NE(body_of_last_request().find(of().state), std::string_view::npos) << body_of_last_request();
  EXPECT_EQ(body_of_last_request().find("qq1"), std::string_view::npos) << body_of_last_request();
  world_.expect_rest();
}

TEST_P(ForeignState, ABodyWithoutAnyPassesThrough) {
  provider_.replies = {{.body = std::string(of().owns_answer)}};
  const Exchange heard = ask("");
  ASSERT_EQ(heard.story(), "success") << heard.reply.body;
  ASSERT_TRUE(heard.record);
  EXPECT_FALSE(heard.record->attempts.front().translated);
  world_.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(All, ForeignState, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// The second turn is a translation of the client's own dialect, and kept by no provider all the same.
TEST(ForeignStateKept, IsKeptByTheGatewayAlone) {
  World world(setup_of(kCases[3]));
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
  provider.replies = {
      {.status = 503, .body = "{}"}, {.body = std::string(kClaudeSays)}, {.body = std::string(kGptEnds)}};
  constexpr std::string_view kAsks =
      R"({{"model":"asked","reasoning":{{"effort":"low"}},"tools":[{{"type":"function","name":"look",)"
      R"("parameters":{{"type":"object"}}}}],{}}})";
  Ask ask;
  ask.path = "/v1/responses";
  ask.body = fmt::format(kAsks, R"("input":"Where is it?")");
  const Exchange first = world.ask(ask);
  ASSERT_EQ(first.story(), "overloaded,success") << first.reply.body;
  const std::string& said = first.reply.body;
  const std::size_t call = said.find("\"call_id\":\"") + 11;
  ask.body = fmt::format(
      kAsks,
      fmt::format(R"("previous_response_id":{},"input":[{{"type":"function_call_output","call_id":"{}",)"
                  R"("output":"There."}}])",
                  JsonValue(said).member("id")->text(), said.substr(call, said.find('"', call) - call)));
  const Exchange second = world.ask(ask);
  ASSERT_EQ(second.story(), "success") << second.reply.body;
  EXPECT_TRUE(second.record->attempts.front().translated);
  const std::string& sent = provider.requests.back();
  EXPECT_NE(sent.find("There."), std::string::npos) << sent;
  EXPECT_NE(sent.find("\"store\":false"), std::string::npos) << sent;
  EXPECT_EQ(sent.find("\"store\":true"), std::string::npos) << sent;
  EXPECT_EQ(sent.find("previous_response_id"), std::string::npos) << sent;
  EXPECT_NE(sent.find("reasoning.encrypted_content"), std::string::npos) << sent;
  EXPECT_NE(second.reply.body.find("\"store\":true"), std::string::npos) << second.reply.body;
  world.expect_rest();
}

// As if the client had sent it itself.
TEST(ForeignStateKept, IsNeitherCompactedNorCountedByOthers) {
  World world(setup_of(kCases[3]));
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
  provider.replies = {{.status = 503, .body = "{}"}, {.body = std::string(kClaudeSays)}};
  Ask ask;
  ask.path = "/v1/responses";
  ask.body = R"({"model":"asked","reasoning":{"effort":"low"},"input":"Where is it?","tools":[)"
             R"({"type":"function","name":"look","parameters":{"type":"object"}}]})";
  const Exchange first = world.ask(ask);
  ASSERT_EQ(first.story(), "overloaded,success") << first.reply.body;
  ask.body = fmt::format(R"({{"model":"asked","previous_response_id":{}}})",
                         JsonValue(first.reply.body).member("id")->text());
  ask.path = "/v1/responses/compact";
  const Exchange compacted = world.ask(ask);
  EXPECT_EQ(compacted.reply.status, 400) << compacted.reply.body;
  EXPECT_NE(compacted.reply.body.find("none of them can compact"), std::string::npos) << compacted.reply.body;
  ask.path = "/v1/responses/input_tokens";
  const Exchange counted = world.ask(ask);
  EXPECT_EQ(counted.reply.status, 200) << counted.reply.body;
  EXPECT_NE(counted.raw.find("x-queqiao-estimated: input_tokens"), std::string::npos) << counted.raw;
  EXPECT_EQ(provider.requests.size(), 2U) << provider.requests.back();
  world.expect_rest();
}

TEST(ForeignStateCounts, AreEstimated) {
  World world(setup_of(kCases[0]));
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
  provider.replies = {{.status = 503, .body = "{}"}, {.body = std::string(kGptSays)}};
  Ask ask;
  ask.path = "/v1/messages";
  ask.body = fmt::format(kAnthropicAsks, "");
  const Exchange first = world.ask(ask);
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  const JsonValue answer(first.reply.body);
  Ask count;
  count.path = "/v1/messages/count_tokens";
  count.body = fmt::format(
      R"({{"model":"asked","messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":{}}}]}})",
      answer.member("content")->text());
  const Exchange counted = world.ask(count);
  EXPECT_EQ(counted.reply.status, 200) << counted.reply.body;
  EXPECT_NE(counted.raw.find("x-queqiao-estimated: input_tokens\r\n"), std::string::npos) << counted.raw;
  EXPECT_EQ(provider.requests.size(), 2U);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::foreign_state
