// How targets are asked: requests of this dialect and of others.

#include <fakes/gemini.h>

#include "dialects/losses.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using model::Part;
using model::Role;
using testing::encoded;
using testing::target;

// A request of an OpenAI chat client.
model::ChatRequest foreign(std::vector<model::Turn> turns) {
  model::ChatRequest request;
  request.dialect = Dialect::OpenAiChat;
  request.model = "asked";
  request.turns = std::move(turns);
  return request;
}

Part text(std::string_view words) {
  return Part(model::TextPart{.text = std::string(words), .citations = {}});
}
Part call(std::string_view id, std::string_view name, std::string_view arguments) {
  return Part(model::ToolCallPart{
      .id = std::string(id), .name = std::string(name), .arguments = std::string(arguments)});
}
Part result(std::string_view id, std::string_view words) {
  model::ToolResultPart made;
  made.call_id = id;
  made.content.push_back(text(words));
  return Part(std::move(made));
}
template <typename... Parts>
model::Turn turn(Role role, Parts&&... parts) {
  model::Turn made;
  made.role = role;
  (made.parts.push_back(std::forward<Parts>(parts)), ...);
  return made;
}

std::string contents_of(const testing::Encoded& made) {
  const auto contents = wire::JsonValue(made.body).member("contents");
  return contents ? std::string(contents->text()) : made.body;
}
std::string config_of(const testing::Encoded& made) {
  const auto config = wire::JsonValue(made.body).member("generationConfig");
  return config ? std::string(config->text()) : "none";
}

TEST(GeminiTarget, RolesAndSystemTurns) {
  const auto made = encoded(
      foreign({turn(Role::System, text("s")), turn(Role::User, text("q")), turn(Role::Assistant, text("a")),
               turn(Role::Developer, text("late")), turn(Role::User, text("q2"))}));
  EXPECT_EQ(
      made.body,
      R"({"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"a"}]},)"
      R"({"role":"user","parts":[{"text":"q2"}]}],"systemInstruction":{"parts":[{"text":"s"},{"text":"late"}]}})");
  EXPECT_EQ(made.losses, "messages: the nearest that the target has\n");
}

TEST(GeminiTarget, SystemTurnAloneIsSpokenByTheUser) {
  EXPECT_EQ(encoded(foreign({turn(Role::System, text("s"))})).body,
            R"({"contents":[{"role":"user","parts":[{"text":"s"}]}]})");
}

TEST(GeminiTarget, ResultsOfOneStepGoTogetherInTheOrderOfTheirCalls) {
  const auto made =
      encoded(foreign({turn(Role::User, text("q")),
                       turn(Role::Assistant, text(""), call("a", "f", R"({"n":1})"), call("b", "g", "")),
                       turn(Role::User, result("b", "from g")), turn(Role::User, result("a", R"({"x":1})")),
                       turn(Role::User, text("and?"))}));
  EXPECT_EQ(
      contents_of(made),
      R"([{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[)"
      R"({"functionCall":{"id":"a","name":"f","args":{"n":1}}},{"functionCall":{"id":"b","name":"g","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"x":1}}},)"
      R"({"functionResponse":{"id":"b","name":"g","response":{"output":"from g"}}},{"text":"and?"}]}])");
  EXPECT_EQ(made.losses, "");
}

TEST(GeminiTarget, VertexTakesNoCallIds) {
  const auto made =
      encoded(foreign({turn(Role::Assistant, call("a", "f", "{}")), turn(Role::User, result("a", "r"))}),
              target(testing::kFlash25, "vertex"));
  EXPECT_EQ(contents_of(made),
            R"([{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},)"
            R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}])");
}

TEST(GeminiTarget, ResultWithoutItsCallIsRefused) {
  EXPECT_EQ(encoded(foreign({turn(Role::User, result("a", "r"))})).body,
            "refused messages: the result of 'a' has no tool call before it; send the assistant's turn with "
            "the call");
}

TEST(GeminiTarget, ArgumentsAndErrorsAreObjects) {
  Part failed = result("a", "went wrong");
  failed.as<model::ToolResultPart>()->is_error = true;
  const auto made =
      encoded(foreign({turn(Role::Assistant, call("a", "f", R"({"cut":)"), call("b", "f", "null")),
                       turn(Role::User, std::move(failed))}));
  EXPECT_EQ(
      contents_of(made),
      R"([{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"arguments":"{\"cut\":"}}},)"
      R"({"functionCall":{"id":"b","name":"f","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"error":"went wrong"}}}]}])");
  EXPECT_EQ(made.losses, "messages[].arguments: no JSON object, wrapped into one\n");
}

TEST(GeminiTarget, Gemini3GetsTheFirstCallsSignatureOrADummy) {
  Part signed_call = call("a", "f", "{}");
  signed_call.state = {Dialect::Gemini, "sig"};
  Part foreign_call = call("c", "f", "{}");
  foreign_call.state = {Dialect::Anthropic, "theirs"};
  const auto request = foreign({turn(Role::Assistant, std::move(signed_call), call("b", "f", "{}")),
                                turn(Role::User, result("a", "r"), result("b", "r")),
                                turn(Role::Assistant, std::move(foreign_call), call("d", "f", "{}"))});
  const auto made = encoded(request, target(testing::kFlash3));
  EXPECT_EQ(
      contents_of(made),
      R"([{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"sig"},)"
      R"({"functionCall":{"id":"b","name":"f","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"r"}}},)"
      R"({"functionResponse":{"id":"b","name":"f","response":{"output":"r"}}}]},)"
      R"({"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},)"
      R"({"functionCall":{"id":"d","name":"f","args":{}}}]}])");
  EXPECT_EQ(made.losses, "messages: it means something only to the provider that made it\n");
  EXPECT_EQ(encoded(request).body.find("skip_"), std::string::npos) << "2.5 wants none";
}

TEST(GeminiTarget, ThoughtsOfOthersStayBehind) {
  Part own(model::ReasoningPart{.kind = model::ReasoningPart::Kind::Summary, .text = "own", .id = {}});
  own.state = {Dialect::Gemini, "sig"};
  Part theirs(model::ReasoningPart{.text = "theirs", .id = {}});
  theirs.state = {Dialect::Anthropic, "x"};
  Part anybodys(model::ReasoningPart{.text = "anybody's", .id = {}});
  EXPECT_EQ(
      contents_of(
          encoded(foreign({turn(Role::Assistant, std::move(own), std::move(theirs), std::move(anybodys))}))),
      R"([{"role":"model","parts":[{"text":"own","thought":true,"thoughtSignature":"sig"},{"text":"anybody's","thought":true}]}])");
}

TEST(GeminiTarget, MediaOfAllKinds) {
  using Media = model::MediaPart;
  const auto media = [](Media::Kind kind, Media::Source source, std::string data, std::string type = {}) {
    return Part(
        Media{.kind = kind, .source = source, .data = std::move(data), .media_type = std::move(type)});
  };
  EXPECT_EQ(contents_of(encoded(foreign({
                turn(Role::User, media(Media::Kind::Image, Media::Source::Base64, "AA==", "image/webp"),
                     media(Media::Kind::Image, Media::Source::Url, "https://x/a.png?y=1"),
                     media(Media::Kind::Image, Media::Source::Url, "https://x/a"),
                     media(Media::Kind::File, Media::Source::Text, "words")),
            }))),
            R"([{"role":"user","parts":[{"inlineData":{"mimeType":"image/webp","data":"AA=="}},)"
            R"({"fileData":{"mimeType":"image/png","fileUri":"https://x/a.png?y=1"}},)"
            R"({"fileData":{"mimeType":"image/jpeg","fileUri":"https://x/a"}},)"
            R"({"inlineData":{"mimeType":"text/plain","data":"d29yZHM="}}]}])");
  EXPECT_EQ(
      encoded(foreign({turn(Role::User, media(Media::Kind::File, Media::Source::FileId, "file-1"))})).body,
      "refused messages: a file id names a file of its own provider; send the file's bytes or its URL");
}

TEST(GeminiTarget, MediaInResultsGoInsideFromGemini3On) {
  Part seen = result("a", "look");
  seen.as<model::ToolResultPart>()->content.emplace_back(
      model::MediaPart{.data = "AA==", .media_type = "image/png"});
  const auto request =
      foreign({turn(Role::Assistant, call("a", "f", "{}")), turn(Role::User, std::move(seen))});
  EXPECT_NE(
      encoded(request, target(testing::kFlash3))
          .body.find(
              R"("response":{"output":"look"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}})"),
      std::string::npos);
  EXPECT_NE(encoded(request).body.find(
                R"("response":{"output":"look"}}},{"inlineData":{"mimeType":"image/png","data":"AA=="}}])"),
            std::string::npos);
}

TEST(GeminiTarget, ToolsAndChoices) {
  auto request = foreign({turn(Role::User, text("q"))});
  for (const char* name : {"f", "g"})
    request.tools.push_back({.name = name, .description = "d", .schema = R"({"type":"object"})"});
  request.tools.push_back({.kind = model::Tool::Kind::Custom, .name = "c"});
  request.tools.push_back(
      {.kind = model::Tool::Kind::Hosted, .name = "web_search", .hosted_by = Dialect::OpenAiChat});
  const std::string both =
      R"("tools":[{"functionDeclarations":[{"name":"f","description":"d"},{"name":"g","description":"d"}]}])";
  EXPECT_NE(encoded(request).body.find(both + "}"), std::string::npos) << encoded(request).body;
  EXPECT_EQ(
      encoded(request).losses,
      "tools: a tool that only its own provider can run\ntools: a tool that only its own provider can run\n");
  using Mode = model::ToolChoice::Mode;
  const auto chosen = [&](Mode mode, std::vector<std::string> only) {
    request.tool_choice = model::ToolChoice{mode, std::move(only)};
    const std::string body = encoded(request).body;
    return body.substr(std::min(body.find("\"tools\""), body.size()));
  };
  EXPECT_EQ(chosen(Mode::Auto, {}), both + R"(,"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}})");
  EXPECT_EQ(chosen(Mode::None, {}), both + R"(,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}})");
  EXPECT_EQ(chosen(Mode::Required, {}), both + R"(,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}})");
  EXPECT_EQ(chosen(Mode::Required, {"g"}),
            both + R"(,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}})");
  EXPECT_EQ(
      chosen(Mode::Auto, {"g"}),
      R"("tools":[{"functionDeclarations":[{"name":"g","description":"d"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}})");
  request.tools.clear();
  request.tool_choice = model::ToolChoice{Mode::Required, {}};
  EXPECT_EQ(encoded(request).body,
            "refused tool_choice: 'tool_choice' wants a call, but there is no function to be called");
}

TEST(GeminiTarget, SchemasSayWhatTheyLose) {
  auto request = foreign({turn(Role::User, text("q"))});
  request.tools.push_back(
      {.name = "f",
       .schema =
           R"({"type":"object","properties":{"a":{"type":"integer","multipleOf":2}},"required":["a"]})"});
  request.output = model::OutputFormat{
      .kind = model::OutputFormat::Kind::JsonSchema,
      .schema = R"({"type":"object","properties":{},"additionalProperties":false,"not":{}})"};
  const auto made = encoded(request);
  EXPECT_NE(made.body.find(
                R"("parameters":{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}},"required":["a"]})"),
            std::string::npos);
  EXPECT_EQ(
      config_of(made),
      R"({"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{},"additionalProperties":false}})");
  EXPECT_EQ(made.losses,
            "tools[0].function.parameters.multipleOf: a word of JSON Schema that the target does not know\n"
            "response_format.not: a word of JSON Schema that the target does not know\n");
}

TEST(GeminiTarget, SamplingAndLimits) {
  auto request = foreign({turn(Role::User, text("q"))});
  request.sampling = {.temperature = 0.5,
                      .top_p = 1,
                      .top_k = 3,
                      .presence_penalty = 1,
                      .frequency_penalty = 2,
                      .seed = 5'000'000'000,
                      .stop = {"1", "2", "3", "4", "5", "6"},
                      .max_output_tokens = 9,
                      .choices = 2,
                      .logprobs = true,
                      .top_logprobs = 4,
                      .logit_bias = R"({"1":2})"};
  request.service_tier = "scale";
  request.user = "me";
  const auto made = encoded(request);
  EXPECT_EQ(
      config_of(made),
      R"({"temperature":0.5,"topP":1,"topK":3,"candidateCount":2,"maxOutputTokens":9,"stopSequences":["1","2","3","4","5"],)"
      R"("presencePenalty":1,"frequencyPenalty":2,"seed":705032704,"responseLogprobs":true,"logprobs":4})");
  EXPECT_EQ(made.losses,
            "logit_bias: the target has no such field\nuser: the target has no such field\n"
            "stop: more of them than the target takes\nseed: clamped to what the target takes\n"
            "service_tier: the nearest that the target has\n");
}

struct ThinkingCase {
  std::string_view model;
  model::ReasoningWish wish;
  std::string_view config;
  std::string_view losses = "";
  Dialect caller = Dialect::OpenAiChat;
};

TEST(GeminiTarget, ThinkingIsALevelOrABudgetByTheModel) {
  using Effort = model::ReasoningWish::Effort;
  constexpr std::string_view kNearest = "reasoning_effort: the nearest that the target has\n";
  const ThinkingCase cases[] = {
      {"gemini-2.5-flash", {.effort = Effort::Medium}, R"({"thinkingConfig":{"thinkingBudget":8192}})"},
      {"gemini-2.5-flash", {.effort = Effort::None}, R"({"thinkingConfig":{"thinkingBudget":0}})"},
      {"gemini-2.5-flash",
       {.effort = Effort::Max},
       R"({"thinkingConfig":{"thinkingBudget":24576}})",
       kNearest},
      {"gemini-2.5-flash-lite",
       {.budget_tokens = 100},
       R"({"thinkingConfig":{"thinkingBudget":512}})",
       "reasoning_effort: clamped to what the target takes\n"},
      {"gemini-2.5-pro", {.effort = Effort::None}, R"({"thinkingConfig":{"thinkingBudget":128}})", kNearest},
      {"gemini-2.5-pro",
       {.budget_tokens = -1, .show = true},
       R"({"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}})"},
      {"gemini-3-flash-preview",
       {.effort = Effort::Minimal},
       R"({"thinkingConfig":{"thinkingLevel":"minimal"}})"},
      {"gemini-3-flash-preview",
       {.effort = Effort::None},
       R"({"thinkingConfig":{"thinkingLevel":"minimal"}})",
       kNearest},
      {"gemini-3-pro-preview",
       {.effort = Effort::Medium},
       R"({"thinkingConfig":{"thinkingLevel":"high"}})",
       kNearest},
      {"gemini-3.1-pro", {.effort = Effort::Medium}, R"({"thinkingConfig":{"thinkingLevel":"medium"}})"},
      {"gemini-flash-latest",
       {.effort = Effort::XHigh},
       R"({"thinkingConfig":{"thinkingLevel":"high"}})",
       kNearest},
      {"gemini-3-flash-preview",
       {.budget_tokens = 2000},
       R"({"thinkingConfig":{"thinkingLevel":"medium"}})",
       kNearest},
      {"gemini-3-flash-preview",
       {.budget_tokens = 2000},
       R"({"thinkingConfig":{"thinkingBudget":2000}})",
       "",
       Dialect::Gemini},
      {"gemini-2.0-flash",
       {.effort = Effort::High},
       "none",
       "reasoning_effort: the target has no such field\n"},
      {"gemma-3-27b-it", {.effort = Effort::None}, "none"},
  };
  for (const ThinkingCase& each : cases) {
    auto request = foreign({turn(Role::User, text("q"))});
    request.dialect = each.caller;
    request.reasoning = each.wish;
    const auto made = encoded(request, target(each.model));
    EXPECT_EQ(config_of(made), each.config) << each.model;
    EXPECT_EQ(made.losses, each.losses) << each.model << " " << each.config;
  }
}

TEST(GeminiTarget, WhatHasNoPlaceElsewhereComesBackInItsOwnDialect) {
  const std::string_view body =
      R"({"contents":[{"role":"user","parts":[{"text":"q","partMetadata":{"a":1}}]}],)"
      R"("tools":[{"functionDeclarations":[{"name":"f","behavior":"BLOCKING"}]},{"googleSearch":{}}],)"
      R"("toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["f"],"mode":"VALIDATED"},"retrievalConfig":{"x":1}},)"
      R"("generationConfig":{"temperature":1,"thinkingConfig":{"includeThoughts":true,"new":2},"speechConfig":{"v":1}},)"
      R"("cachedContent":"cachedContents/1","serviceTier":"flex","safetySettings":[]})";
  const auto made = encoded(testing::request_of(body));
  EXPECT_EQ(made.body, body);
  EXPECT_EQ(made.losses, "");
}

TEST(GeminiTarget, LabelsAreVertexs) {
  const auto request = testing::request_of(R"({"contents":[{"parts":[{"text":"q"}]}],"labels":{"a":"b"}})");
  EXPECT_NE(encoded(request, target(testing::kFlash25, "vertex")).body.find(R"("labels":{"a":"b"})"),
            std::string::npos);
  EXPECT_EQ(encoded(request, target(testing::kFlash25, "vertex")).losses, "");
  EXPECT_EQ(encoded(request).body.find("labels"), std::string::npos);
  EXPECT_EQ(encoded(request).losses, "labels: the target has no such field\n");
}

TEST(GeminiTarget, WhatOnlyAStoreKnowsIsRefused) {
  auto request = foreign({turn(Role::User, text("q"))});
  request.previous_response_id = "resp_1";
  EXPECT_TRUE(encoded(request).body.starts_with("refused previous_response: ")) << encoded(request).body;
}

TEST(GeminiTarget, AnAnthropicClientThatThinksHearsItsThoughts) {
  auto request = foreign({turn(Role::User, text("q"))});
  request.dialect = Dialect::Anthropic;
  request.reasoning.emplace().budget_tokens = 2048;
  const auto made = encoded(request, target("gemini-2.5-flash"));
  EXPECT_NE(config_of(made).find(R"("includeThoughts":true)"), std::string::npos) << made.body;
}

}  // namespace
}  // namespace qq::dialects::gemini
