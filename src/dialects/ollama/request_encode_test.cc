#include <fakes/asking.h>

#include "dialects/ollama/dialect.h"

namespace qq::dialects::ollama {
namespace {

using namespace qq::testing::asking;
using model::Role;
using Kind = model::MediaPart::Kind;
using Mode = model::ToolChoice::Mode;
using Source = model::MediaPart::Source;

Sent asked(const model::ChatRequest& request, std::string model = "qwen3:8b", bool reasons = true) {
  model::Target target;
  target.upstream_model = std::move(model);
  target.reasons = reasons;
  return sent(provider_side(), request, target);
}
model::ChatRequest hello() {
  return request(turn(Role::User, text("Hello")));
}

TEST(OllamaRequest, SaysTheConversationInTexts) {
  const Sent out = asked(
      request(turn(Role::Developer, text("Be brief."), text("Be kind.")), turn(Role::User, text("Weather?")),
              turn(Role::Assistant, thought("Hm."), text("I ask."), call("a", "weather", R"({"city":"X"})")),
              turn(Role::User, result("a", "sunny"), text("Well?"))));
  EXPECT_EQ(out.body,
            R"({"model":"qwen3:8b","stream":false,"messages":[)"
            R"({"role":"system","content":"Be brief.\n\nBe kind."},{"role":"user","content":"Weather?"},)"
            R"({"role":"assistant","content":"I ask.","thinking":"Hm.","tool_calls":[{"id":"a","function":)"
            R"({"name":"weather","arguments":{"city":"X"}}}]},)"
            R"({"role":"tool","content":"sunny","tool_name":"weather","tool_call_id":"a"},)"
            R"({"role":"user","content":"Well?"}]})");
  EXPECT_EQ(out.losses, "");
}

TEST(OllamaRequest, ArgumentsAreObjectsWhateverTheyWere) {
  const Sent out =
      asked(request(turn(Role::User, text("Go")), turn(Role::Assistant, call("", "f", "{\"x\":")),
                    turn(Role::User, result("", "ok", "f"))));
  EXPECT_NE(out.body.find(R"("arguments":{"arguments":"{\"x\":"})"), std::string::npos) << out.body;
  EXPECT_NE(out.body.find(R"({"role":"tool","content":"ok","tool_name":"f"})"), std::string::npos);
  EXPECT_EQ(out.losses, "messages[].tool_calls: no JSON object, wrapped into one\n");
}

TEST(OllamaRequest, ImagesTravelInsideAndFilesOfTextAreText) {
  const Sent out = asked(request(turn(Role::User, text("See"), media(Kind::Image, "image/png", "AAAA"),
                                      media(Kind::File, "", "body", Source::Text, "n.txt"))));
  EXPECT_EQ(out.at("messages"), R"([{"role":"user","content":"See\n\nn.txt:\nbody","images":["AAAA"]}])");
  EXPECT_EQ(out.losses, "messages[].content: the nearest that the target has\n");
  EXPECT_NE(asked(request(turn(Role::User, media(Kind::Image, "", "https://x", Source::Url)))).refused, "");
  EXPECT_NE(asked(request(turn(Role::User, media(Kind::File, "application/pdf", "AA==")))).refused, "");
}

TEST(OllamaRequest, OptionsHoldTheSampling) {
  model::ChatRequest wish = hello();
  wish.stream = true;
  wish.sampling.max_output_tokens = 9;
  wish.sampling.temperature = 0;
  wish.sampling.top_k = 2;
  wish.sampling.seed = 4;
  wish.sampling.stop = {"END"};
  wish.sampling.logprobs = true;
  wish.sampling.top_logprobs = 2;
  const Sent out = asked(wish);
  EXPECT_EQ(out.at("stream"), "true");
  EXPECT_EQ(out.at("options"), R"({"num_predict":9,"temperature":0,"top_k":2,"seed":4,"stop":["END"]})");
  EXPECT_EQ(out.at("logprobs"), "true");
  EXPECT_EQ(out.at("top_logprobs"), "2");
  EXPECT_EQ(asked(hello()).at("options"), "");
}

TEST(OllamaRequest, FormatIsAWordOrASchema) {
  model::ChatRequest wish = hello();
  wish.output.emplace();
  EXPECT_EQ(asked(wish).at("format"), "");
  wish.output->kind = model::OutputFormat::Kind::JsonObject;
  EXPECT_EQ(asked(wish).at("format"), R"("json")");
  wish.output->kind = model::OutputFormat::Kind::JsonSchema;
  EXPECT_EQ(asked(wish).at("format"), R"("json")") << "without the schema";
  wish.output->schema = R"({"type":"object"})";
  EXPECT_EQ(asked(wish).at("format"), R"({"type":"object"})");
}

TEST(OllamaRequest, AToolCannotBeDemanded) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f"), tool("g")};
  wish.tool_choice = choice(Mode::Required, {"g"});
  const Sent out = asked(wish);
  EXPECT_EQ(out.body.find(R"("name":"f")"), std::string::npos);
  EXPECT_EQ(out.losses, "tool_choice: the target has no such field\n");
  wish.tool_choice = choice(Mode::None);
  EXPECT_EQ(asked(wish).at("tools"), "");
  EXPECT_EQ(asked(wish).losses, "");
}

TEST(OllamaRequest, ThinkingIsASwitchAndALevelForSome) {
  using Effort = model::ReasoningWish::Effort;
  model::ChatRequest wish = hello();
  wish.reasoning.emplace().effort = Effort::High;
  EXPECT_EQ(asked(wish).at("think"), "true");
  EXPECT_EQ(asked(wish, "gpt-oss:20b").at("think"), R"("high")");
  EXPECT_EQ(asked(wish, "gpt-oss:20b").losses, "");
  EXPECT_EQ(asked(wish, "llama3", false).at("think"), "");
  EXPECT_EQ(asked(wish, "llama3", false).losses, "reasoning_effort: the target has no such field\n");
  wish.reasoning->effort = Effort::None;
  EXPECT_EQ(asked(wish).at("think"), "false");
  EXPECT_EQ(asked(wish).losses, "");
  EXPECT_EQ(asked(wish, "gpt-oss:20b").at("think"), R"("low")") << "it always thinks";
  EXPECT_EQ(asked(wish, "gpt-oss:20b").losses, "reasoning_effort: the nearest that the target has\n");
}

}  // namespace
}  // namespace qq::dialects::ollama
