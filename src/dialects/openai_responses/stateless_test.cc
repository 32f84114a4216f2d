#include "dialects/openai_responses/stateless.h"

#include <gtest/gtest.h>

#include "dialects/carried_state.h"
#include "dialects/openai/request.h"

namespace qq::dialects::openai_responses {
namespace {

model::Target target_of(std::string model, bool seals) {
  model::Target target;
  target.upstream_model = std::move(model);
  target.quirks.seals_thoughts = seals;
  return target;
}

// What such a target is sent of a request that is kept here.
std::string sent(std::string_view body, const model::Target& target, bool asks_thoughts = true,
                 model::Endpoint endpoint = model::Endpoint::Responses) {
  auto facts = openai::inspect_request(endpoint, body, {});
  if (!facts) return facts.error().message;
  facts->keeps_nothing = true;
  facts->asks_thoughts = asks_thoughts;
  openai::TargetBody out;
  openai::encode_for_target(*facts, body, endpoint, target, out);
  std::string text;
  for (const std::string_view piece : out.pieces) text += piece;
  EXPECT_EQ(text.size(), out.bytes);
  EXPECT_FALSE(wire::check_json(text)) << text;
  return text;
}

std::string items_sent(std::string_view items, const model::Target& target) {
  const std::string body = R"({"model":"gpt-4o","store":false,"input":[)" + std::string(items) + "]}";
  const std::string text = sent(body, target);
  const std::size_t from = text.find("\"input\":[") + 9;
  return text.substr(from, text.size() - from - 2);
}

TEST(StatelessResponses, TheProviderIsToldToKeepNothing) {
  const model::Target target = target_of("gpt-4o", true);
  EXPECT_EQ(sent(R"({"model":"gpt-4o","input":"a"})", target),
            R"({"store":false,"model":"gpt-4o","input":"a"})");
  EXPECT_EQ(sent(R"({"model":"gpt-4o","store":true,"input":"a"})", target),
            R"({"model":"gpt-4o","store":false,"input":"a"})");
  EXPECT_EQ(sent(R"({"model":"gpt-4o","store":null,"background":true})", target),
            R"({"model":"gpt-4o","store":false,"background":false})");
  EXPECT_EQ(sent(R"({"model":"gpt-4o","store":false})", target), R"({"model":"gpt-4o","store":false})");
}

TEST(StatelessResponses, ThoughtsAreWantedSealedOfModelsThatThink) {
  const auto asks = [](const model::Target& target, std::string_view more = "") {
    const std::string body =
        R"({"store":false,"model":")" + target.upstream_model + "\"" + std::string(more) + "}";
    return sent(body, target).contains("reasoning.encrypted_content");
  };
  for (const char* model : {"o3", "o4-mini", "gpt-5", "gpt-5.1-codex", "gpt-6", "codex-mini-latest"}) {
    EXPECT_TRUE(asks(target_of(model, true))) << model;
    EXPECT_FALSE(asks(target_of(model, false))) << "who knows what others refuse";
  }
  for (const char* model :
       {"gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "chatgpt-4o-latest", "my-own", "gpt-oss"}) {
    EXPECT_FALSE(asks(target_of(model, true))) << model << " would be refused";
  }
  EXPECT_TRUE(asks(target_of("my-own", true), R"(,"reasoning":{"effort":"low"})"));
  EXPECT_FALSE(asks(target_of("my-own", true), R"(,"reasoning":{"effort":null})"));
  model::Target declared = target_of("my-own", false);
  declared.reasons = true;
  EXPECT_TRUE(asks(declared));

  const model::Target target = target_of("o3", true);
  EXPECT_EQ(sent(R"({"model":"o3","store":false,"include":["a"]})", target),
            R"({"model":"o3","store":false,"include":["reasoning.encrypted_content","a"]})");
  EXPECT_EQ(sent(R"({"model":"o3","store":false,"include":["reasoning.encrypted_content"]})", target),
            R"({"model":"o3","store":false,"include":["reasoning.encrypted_content"]})");
  EXPECT_EQ(sent(R"({"model":"o3","store":false,"include":null})", target),
            R"({"model":"o3","store":false,"include":["reasoning.encrypted_content"]})");
  EXPECT_EQ(sent(R"({"model":"o3","store":false})", target, false), R"({"model":"o3","store":false})");
}

TEST(StatelessResponses, ATurnWhoseThoughtsAreSealedGoesBackAsItCame) {
  constexpr std::string_view kTurn =
      R"({"role":"user","content":"x"},{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAA","summary":[]},)"
      R"({"id":"fc_1","type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c"})";
  EXPECT_EQ(items_sent(kTurn, target_of("gpt-4o", true)), kTurn);
}

TEST(StatelessResponses, ATurnThatLostAThoughtLosesItsIds) {
  const model::Target target = target_of("gpt-4o", true);
  EXPECT_EQ(
      items_sent(R"({"id":"rs_1","type":"reasoning","summary":[]}, {"id":"fc_1", "type":"function_call"})",
                 target),
      R"({"type":"function_call"})");
  EXPECT_EQ(
      items_sent(R"({"type":"message","role":"assistant","id":"msg_1"},{"id":"rs_1","type":"reasoning"})",
                 target),
      R"({"type":"message","role":"assistant"})");
  EXPECT_EQ(items_sent(R"({"role":"user"} , {"type":"reasoning","id":"rs_1"} , {"role":"user"})", target),
            R"({"role":"user"} , {"role":"user"})");
  EXPECT_EQ(items_sent(R"({"type":"reasoning","id":"rs_1"})", target), "");
  EXPECT_EQ(items_sent(R"({"id":"rs_1","type":"reasoning","summary":["s"]},{"id":"rs_2","type":"reasoning",)"
                       R"("encrypted_content":"gA"},{"type":"message","id":"msg_1","role":"assistant"})",
                       target),
            R"({"type":"reasoning","encrypted_content":"gA"},{"type":"message","role":"assistant"})")
      << "a summary is no thought, and a thought with an id wants its follower with one";
  EXPECT_EQ(
      items_sent(R"({"id":"rs_1","type":"reasoning"},{"id":"ig_1","type":"image_generation_call"})", target),
      R"({"id":"ig_1","type":"image_generation_call"})")
      << "it is nothing without its id";
}

TEST(StatelessResponses, AThoughtThatAnotherDialectSealedGoes) {
  const std::string foreign =
      state_field({model::Dialect::Anthropic, "signed"}, model::Dialect::OpenAiResponses);
  const std::string items = R"({"id":"rs_1","type":"reasoning","encrypted_content":")" + foreign +
                            R"("},{"type":"message","id":"m"})";
  EXPECT_EQ(items_sent(items, target_of("gpt-4o", true)), R"({"type":"message"})");
  EXPECT_EQ(items_sent(items, target_of("gpt-4o", false)), items)
      << "it is not for us to say what others take";
}

TEST(StatelessResponses, OthersKeepThoughtsThatCanBeRead) {
  const model::Target target = target_of("m", false);
  constexpr std::string_view kRead =
      R"({"id":"rs_1","type":"reasoning","content":[{"type":"reasoning_text","text":"t"}]},{"id":"msg_1","type":"message"})";
  EXPECT_EQ(items_sent(kRead, target), kRead);
  EXPECT_EQ(
      items_sent(R"({"id":"rs_1","type":"reasoning","summary":[]},{"id":"msg_1","type":"message"})", target),
      R"({"type":"message"})");
}

TEST(StatelessResponses, ACountIsOfTheSameInput) {
  EXPECT_EQ(sent(R"({"model":"m","input":[{"id":"rs_1","type":"reasoning"},{"id":"m","type":"message"}]})",
                 target_of("m", true), true, model::Endpoint::CountInputTokens),
            R"({"model":"m","input":[{"type":"message"}]})")
      << "it has no store to speak of";
}

TEST(StatelessResponses, TheMembersThatCountMayNotBeHidden) {
  for (const char* twice :
       {R"({"model":"m","store":false,"store":true})", R"({"model":"m","st\u006fre":true})",
        R"({"model":"m","STORE":true})", R"({"model":"m","input":[],"input":"x"})",
        R"({"model":"m","previous_response_id":null,"previous_response_id":"resp_1"})"}) {
    EXPECT_FALSE(openai::inspect_request(model::Endpoint::Responses, twice, {})) << twice;
  }
  EXPECT_TRUE(
      openai::inspect_request(model::Endpoint::ChatCompletions, R"({"model":"m","store":1,"store":2})", {}));
}

}  // namespace
}  // namespace qq::dialects::openai_responses
