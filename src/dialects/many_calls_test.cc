// Conversations as large as a body may be are translated in one go on an event loop: what they cost must not
// grow with the square of their calls. With it each of these would take minutes.
#include <fakes/asking.h>

#include "dialects/carried_state.h"

namespace qq::dialects {
namespace {

using namespace qq::testing::asking;
using model::Dialect;
using model::Role;

constexpr std::size_t kMany = 50'000;  // JSON has a limit of values

std::string numbered(std::string_view word, std::size_t number) {
  return std::string(word) + std::to_string(number);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class ManyCalls : public ::testing::TestWithParam<Dialect> {
 protected:
  static Sent sent_of(const model::ChatRequest& request) {
    model::Target target;
    target.upstream_model = "claude-sonnet-4-5";
    return sent(*provider_dialect(GetParam()), request, target);
  }
};

TEST_P(ManyCalls, OfOneIdFindTheirResults) {
  model::Turn calls{.role = Role::Assistant, .parts = {}, .name = {}, .extra = {}};
  model::Turn results{.role = Role::User, .parts = {}, .name = {}, .extra = {}};
  for (std::size_t i = 0; i < kMany; ++i) {
    calls.parts.push_back(call("same", numbered("tool", i), "{}"));
    results.parts.push_back(text("t"));
  }
  for (std::size_t i = 0; i < kMany; ++i) results.parts.push_back(result("same", "found", "tool"));
  const Sent out = sent_of(request(turn(Role::User, text("go")), std::move(calls), std::move(results)));
  EXPECT_EQ(count_of(out.body, "found"), kMany) << out.refused;
}

TEST_P(ManyCalls, WithoutIdsFindTheirResultsByName) {
  model::Turn calls{.role = Role::Assistant, .parts = {}, .name = {}, .extra = {}};
  model::Turn results{.role = Role::User, .parts = {}, .name = {}, .extra = {}};
  for (std::size_t i = 0; i < kMany; ++i) {
    calls.parts.push_back(call("", numbered("tool", i), "{}"));
    results.parts.push_back(result("", "found", numbered("tool", kMany - 1 - i)));
  }
  const Sent out = sent_of(request(turn(Role::User, text("go")), std::move(calls), std::move(results)));
  EXPECT_EQ(count_of(out.body, "found"), kMany) << out.refused;
}

TEST_P(ManyCalls, AreNotSearchedForResultsOfNone) {
  model::Turn calls{.role = Role::Assistant, .parts = {}, .name = {}, .extra = {}};
  model::Turn results{.role = Role::User, .parts = {}, .name = {}, .extra = {}};
  for (std::size_t i = 0; i < kMany; ++i) {
    calls.parts.push_back(call(numbered("call_", i), "tool", "{}"));
    if (GetParam() == Dialect::OpenAiChat || GetParam() == Dialect::OpenAiResponses)
      calls.parts.back().as<model::ToolCallPart>()->kind = model::ToolCallPart::Kind::Custom;
    results.parts.push_back(result("call_99999999", "found", GetParam() == Dialect::Ollama ? "" : "tool"));
  }
  const Sent out = sent_of(request(turn(Role::User, text("go")), std::move(calls), std::move(results)));
  EXPECT_EQ(count_of(out.body, "found"), kMany) << out.refused;
}

TEST_P(ManyCalls, AreOfManyToolsOfWhichManyMayBeCalled) {
  model::ChatRequest wish = request(turn(Role::User, text("go")));
  model::ToolChoice all = choice(model::ToolChoice::Mode::Auto);
  for (std::size_t i = kMany; i > 0; --i) {
    wish.tools.push_back(tool(numbered("tool", i)));
    all.only.push_back(numbered("tool", kMany + 1 - i));
  }
  wish.tool_choice = std::move(all);
  const Sent out = sent_of(wish);
  EXPECT_GE(count_of(out.body, "\"tool"), kMany) << out.refused;
}

INSTANTIATE_TEST_SUITE_P(EachProvider, ManyCalls,
                         ::testing::Values(Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic,
                                           Dialect::Gemini, Dialect::Bedrock, Dialect::Cohere,
                                           Dialect::Ollama),
                         [](const auto& dialect) { return std::string(to_string(dialect.param)); });

// ---- What clients send. `%` is the number of a call, which carries a thought in its id.

struct Client {
  Dialect dialect;
  std::string_view begin;
  std::string_view text;  // before the calls, as often as there are calls
  std::string_view before_calls;
  std::string_view call;
  std::string_view between;
  std::string_view result;  // of no call, or of the last call that is open
  std::string_view end;
};

void PrintTo(const Client& client, std::ostream* out) {
  *out << to_string(client.dialect);
}

class ManyCallsFrom : public ::testing::TestWithParam<Client> {
 protected:
  static std::string body(bool carrying) {
    const Client& client = GetParam();
    std::string out(client.begin);
    const auto add = [&](std::string_view form, std::string_view id) {
      if (form.empty()) return;
      if (out.back() == '}') out += ',';
      for (const char c : form) {
        if (c == '%') {
          out += id;
        } else {
          out += c;
        }
      }
    };
    for (std::size_t i = 0; i < kMany; ++i) add(client.text, {});
    out += client.before_calls;
    for (std::size_t i = 0; i < kMany; ++i) {
      const std::string id = numbered("call_", i);
      model::Part thought(
          model::ReasoningPart{.kind = model::ReasoningPart::Kind::Redacted, .text = {}, .id = {}});
      thought.state = {Dialect::Anthropic, id};
      add(client.call, carrying ? *with_carried(id, {.call = {}, .reasoning = {std::move(thought)}}) : id);
    }
    out += client.between;
    for (std::size_t i = kMany; i > 0; --i) add(client.result, numbered("call_", i + 7));
    return out.append(client.end);
  }
};

TEST_P(ManyCallsFrom, AreReadAndTheirThoughtsPutBack) {
  const auto read = client_dialect(GetParam().dialect)->decode_request(body(true), {.path_model = "m"});
  ASSERT_TRUE(read) << read.error().message;
  std::size_t calls = 0;
  std::size_t thoughts = 0;
  std::size_t results = 0;
  for (const model::Turn& turn : read->turns) {
    for (const model::Part& part : turn.parts) {
      calls += part.as<model::ToolCallPart>() != nullptr ? 1 : 0;
      thoughts += part.as<model::ReasoningPart>() != nullptr ? 1 : 0;
      results += part.as<model::ToolResultPart>() != nullptr ? 1 : 0;
    }
  }
  EXPECT_EQ(calls, kMany);
  EXPECT_EQ(results, kMany);
  EXPECT_EQ(thoughts, GetParam().dialect == Dialect::Gemini ? 1 : kMany);
}

TEST_P(ManyCallsFrom, AreReadWithoutThoughts) {
  const auto read = client_dialect(GetParam().dialect)->decode_request(body(false), {.path_model = "m"});
  ASSERT_TRUE(read) << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    EachClient, ManyCallsFrom,
    ::testing::Values(
        Client{Dialect::OpenAiChat, R"({"model":"m","messages":[{"role":"assistant","content":[)",
               R"({"type":"text","text":"t"})", R"(],"tool_calls":[)",
               R"({"id":"%","type":"function","function":{"name":"f","arguments":"{}"}})", "]}",
               R"({"role":"tool","tool_call_id":"%","content":"r"})", "]}"},
        Client{Dialect::OpenAiResponses, R"({"model":"m","input":[)",
               R"({"type":"message","role":"assistant","content":"t"})", "",
               R"({"type":"function_call","call_id":"%","name":"f","arguments":"{}"})", "",
               R"({"type":"function_call_output","call_id":"%","output":"r"})", "]}"},
        Client{Dialect::Anthropic,
               R"({"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[)",
               R"({"type":"text","text":"t"})", "", R"({"type":"tool_use","id":"%","name":"f","input":{}})",
               R"(]},{"role":"user","content":[)",
               R"({"type":"tool_result","tool_use_id":"%","content":"r"})", "]}]}"},
        Client{Dialect::Gemini, R"({"contents":[{"role":"model","parts":[)", R"({"text":"t"})", "",
               R"({"functionCall":{"id":"%","name":"f","args":{}}})", R"(]},{"role":"user","parts":[)",
               R"({"functionResponse":{"id":"%","name":"f","response":{}}})", "]}]}"}),
    [](const auto& client) { return std::string(to_string(client.param.dialect)); });

}  // namespace
}  // namespace qq::dialects
