#include <fakes/neutral.h>

#include "dialects/carried_state.h"
#include "dialects/openai_responses/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {
namespace {

model::ChatRequest decoded(std::string_view body) {
  auto request = client_side().decode_request(body, {});
  EXPECT_TRUE(request) << body << ": " << request.error().param << ": " << request.error().message;
  return request ? *std::move(request) : model::ChatRequest();
}

std::string encoded(const model::ChatRequest& request, Losses& losses, const model::Target& target = {}) {
  const auto body = provider_side().encode_request(request, target, losses);
  EXPECT_TRUE(body) << body.error().message;
  if (!body) return {};
  EXPECT_FALSE(wire::check_json(body->body)) << body->body;
  return body->body;
}

std::string encoded(const model::ChatRequest& request) {
  Losses losses;
  std::string body = encoded(request, losses);
  EXPECT_TRUE(losses.empty()) << losses.front().field << ": " << losses.front().why;
  return body;
}

model::ChatRequest from_chat() {
  model::ChatRequest request;
  request.dialect = model::Dialect::OpenAiChat;
  request.model = "m";
  request.turns.push_back({.role = model::Role::User, .parts = {model::Part(model::TextPart{"hi", {}})}});
  return request;
}

TEST(ResponsesRequest, EveryKindOfItemIsRead) {
  const auto request = decoded(R"({"model":"m","instructions":"be brief","input":[
    {"role":"developer","content":"rules"},
    {"type":"message","role":"user","content":[
      {"type":"input_text","text":"look","prompt_cache_breakpoint":{"mode":"explicit"}},
      {"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},
      {"type":"input_image","file_id":"file-1"},
      {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,BBBB"},
      {"type":"input_file","file_url":"https://x/y"},
      {"type":"input_audio","input_audio":{"data":"CCCC","format":"wav"}},
      {"type":"input_screenshot","n":1}]},
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],
     "content":[{"type":"reasoning_text","text":"c"}],"encrypted_content":"E"},
    {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[
      {"type":"output_text","text":"I see","annotations":[{"type":"url_citation"}]},{"type":"refusal","refusal":"no"}]},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"","status":"completed"},
    {"type":"custom_tool_call","call_id":"call_2","name":"g","input":"free"},
    {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"one"}]},
    {"type":"custom_tool_call_output","call_id":"call_2","output":"two"},
    {"type":"custom_tool_call_output","call_id":"call_old","output":""},
    {"type":"web_search_call","id":"ws_1","status":"completed"},
    {"type":"item_reference","id":"rs_0"}]})");
  EXPECT_EQ(testing::describe(request), R"(request openai_responses model=m usage_in_stream
  system
    text "be brief"
  developer
    text "rules"
  user
    text "look" cache
    image base64 "AAAA" image/png detail low
    image file_id "file-1" 
    file base64 "BBBB" application/pdf name "a.pdf"
    file url "https://x/y" 
    audio base64 "CCCC" audio/wav
    opaque openai_responses message.input_screenshot {"type":"input_screenshot","n":1}
  assistant
    reasoning_summary "a" id rs_1
    reasoning_summary "b" id rs_1
    reasoning "c" id rs_1 state openai_responses:E
    text "I see" citation {"type":"url_citation"} +phase="commentary"
    refusal "no"
    call call_1 f {}
    custom_call call_2 g free
  user
    result of call_1 f
      text "one"
    result of call_2 g
      text "two"
    result of call_old  +type="custom_tool_call_output"
  assistant
    opaque openai_responses web_search_call {"type":"web_search_call","id":"ws_1","status":"completed"}
    opaque openai_responses item_reference {"type":"item_reference","id":"rs_0"}
)");
  EXPECT_EQ(testing::without_item_ids(testing::describe(decoded(encoded(request)))),
            testing::without_item_ids(testing::describe(request)))
      << encoded(request);
}

TEST(ResponsesRequest, AMessageIsATurnAndWhatStandsAroundItJoins) {
  const auto request = decoded(R"({"model":"m","input":[
    {"role":"assistant","content":"one"},{"role":"assistant","content":"two"},
    {"type":"reasoning","id":"r","summary":[],"encrypted_content":"E"},
    {"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]})");
  ASSERT_EQ(request.turns.size(), 3U);
  EXPECT_EQ(request.turns[2].parts.size(), 2U) << "thoughts belong to what comes behind them";
}

TEST(ResponsesRequest, EveryFieldIsWrittenBack) {
  const char* const body = R"({"model":"m","stream":true,"input":"hi","tools":[
    {"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true,"defer_loading":true},
    {"type":"custom","name":"g","format":{"type":"grammar","syntax":"lark","definition":"x"}},
    {"type":"web_search","search_context_size":"low"}],
    "tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"custom","name":"g"}]},
    "parallel_tool_calls":false,"text":{"format":{"type":"json_schema","name":"n","description":"d","schema":{"type":"object"},
    "strict":true},"verbosity":"low"},"reasoning":{"effort":"high","summary":"detailed","context":"all_turns"},
    "include":["reasoning.encrypted_content","message.output_text.logprobs","file_search_call.results"],
    "temperature":0.5,"top_p":0.25,"max_output_tokens":8,"top_logprobs":2,"user":"u","metadata":{"a":"b"},
    "service_tier":"flex","prompt_cache_key":"k","store":false,"previous_response_id":"resp_1","conversation":{"id":"conv_1"},
    "truncation":"auto","safety_identifier":"s","background":false,"max_tool_calls":3,"instructions":null})";
  const auto request = decoded(body);
  EXPECT_EQ(request.conversation, "conv_1");
  EXPECT_TRUE(request.wants_reasoning_state);
  const std::string again = encoded(request);
  for (
      const std::string_view piece :
      {R"("defer_loading":true)", R"("syntax":"lark")",
       R"({"type":"web_search","search_context_size":"low"})",
       R"("tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"custom","name":"g"}]})",
       R"("verbosity":"low")", R"("reasoning":{"effort":"high","summary":"detailed","context":"all_turns"})",
       R"("include":["reasoning.encrypted_content","message.output_text.logprobs","file_search_call.results"])",
       R"("max_output_tokens":8)", R"("truncation":"auto")", R"("safety_identifier":"s")",
       R"("max_tool_calls":3)", R"("conversation":"conv_1")", R"("store":false)"}) {
    EXPECT_NE(again.find(piece), std::string::npos) << piece << "\n" << again;
  }
  auto described = testing::describe(decoded(again));
  EXPECT_EQ(described, testing::describe(request));
}

TEST(ResponsesRequest, AbsentStaysAbsent) {
  EXPECT_EQ(encoded(decoded(R"({"model":"m","input":[],"temperature":null,"store":null,"tools":null})")),
            R"({"model":"m","input":[]})");
}

TEST(ResponsesRequest, EveryFormOfToolChoiceSurvives) {
  for (
      const std::string_view choice :
      {R"("auto")", R"("none")", R"("required")", R"({"type":"function","name":"f"})",
       R"({"type":"custom","name":"g"})", R"({"type":"file_search"})",
       R"({"type":"mcp","server_label":"s","name":"n"})",
       R"({"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}, {"type":"mcp","server_label":"s"}]})"}) {
    const std::string body =
        R"({"model":"m","input":"x","tools":[{"type":"function","name":"f","parameters":{}},)"
        R"({"type":"custom","name":"g"}],"tool_choice":)" +
        std::string(choice) + "}";
    const std::string again = encoded(decoded(body));
    EXPECT_NE(again.find("\"tool_choice\":" + std::string(choice)), std::string::npos) << again;
  }
}

TEST(ResponsesRequest, ErrorsNameTheField) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"input":"x"})", "model"},
      {R"({"model":"","input":"x"})", "model"},
      {R"({"model":"m"})", "input"},
      {R"({"model":"m","input":1})", "input"},
      {R"({"model":"m","input":["x"]})", "input[0]"},
      {R"({"model":"m","input":[{"role":"user","content":"x"},{"content":"x"}]})", "input[1].type"},
      {R"({"model":"m","instructions":[{"role":"system","content":"x"},{}],"input":"x"})",
       "instructions[1].type"},
      {R"({"model":"m","input":[{"role":"tool","content":"x"}]})", "input[0].role"},
      {R"({"model":"m","input":[{"role":"user"}]})", "input[0].content"},
      {R"({"model":"m","input":[{"role":"user","content":[{"text":"x"}]}]})", "input[0].content[0].type"},
      {R"({"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image",
          "image_url":{"url":"x"}}]}]})",
       "input[0].content[1].image_url"},
      {R"({"model":"m","input":[{"type":"function_call","name":"f","arguments":"{}"}]})", "input[0].call_id"},
      {R"({"model":"m","input":[{"type":"function_call_output","call_id":"c"}]})", "input[0].output"},
      {R"({"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[1]}]})",
       "input[0].output[0]"},
      {R"({"model":"m","input":"x","tools":{}})", "tools"},
      {R"({"model":"m","input":"x","tools":[{"type":"function"}]})", "tools[0].name"},
      {R"({"model":"m","input":"x","tool_choice":"maybe"})", "tool_choice"},
      {R"({"model":"m","input":"x","tool_choice":{"type":"function"}})", "tool_choice.name"},
      {R"({"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"n"}}})",
       "text.format.schema"},
      {R"({"model":"m","input":"x","text":[]})", "text"},
      {R"({"model":"m","input":"x","reasoning":{"effort":3}})", "reasoning.effort"},
      {R"({"model":"m","input":"x","temperature":"hot"})", "temperature"},
      {R"({"model":"m","input":"x","max_output_tokens":1.5})", "max_output_tokens"},
      {R"({"model":"m","input":"x","stream":"yes"})", "stream"},
      {R"({"model":"m","model":"n","input":"x"})", "model"},
      {R"({"mod\u0065l":"m","input":"x"})", "model"},
      {R"({"model":"m","input":[{"role":"user","role":"system","content":"x"}]})", "input[0].role"},
  };
  for (const auto& [body, param] : cases) {
    const auto request = client_side().decode_request(body, {});
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().kind, ErrorKind::InvalidRequest);
    EXPECT_EQ(request.error().param, param) << body;
    EXPECT_FALSE(request.error().message.empty());
  }
  EXPECT_FALSE(client_side().decode_request("[]", {}));
  EXPECT_FALSE(client_side().decode_request("{", {}));
  EXPECT_TRUE(client_side().decode_request(R"({"model":"m","previous_response_id":"resp_1"})", {}));
}

TEST(ResponsesRequest, OtherDialectsDefaultsAreSaid) {
  auto request = from_chat();
  request.tools.push_back({.name = "f", .schema = "{}"});
  request.tools.push_back({.kind = model::Tool::Kind::Custom,
                           .name = "g",
                           .schema = R"({"type":"grammar","grammar":{"syntax":"lark","definition":"x"}})"});
  model::Target target;
  target.reasons = true;
  target.upstream_model = "up";
  Losses losses;
  EXPECT_EQ(encoded(request, losses, target),
            R"({"model":"up","input":[{"type":"message","role":"user","content":"hi"}],"tools":[)"
            R"({"type":"function","name":"f","parameters":{},"strict":false},)"
            R"({"type":"custom","name":"g","format":{"type":"grammar","syntax":"lark","definition":"x"}}],)"
            R"("include":["reasoning.encrypted_content"],"store":false})");
  EXPECT_TRUE(losses.empty());
}

TEST(ResponsesRequest, ModelsAreToldToThinkInTheWordsThatTheyTake) {
  const auto told = [](model::ReasoningWish wish, const char* name, bool reasons) {
    auto request = from_chat();
    request.reasoning = std::move(wish);
    model::Target target;
    target.upstream_model = name;
    target.reasons = reasons;
    Losses losses;
    const std::string body = encoded(request, losses, target);
    const auto said = wire::JsonValue(body).member("reasoning");
    std::string out = said ? std::string(said->text()) : "nothing";
    for (const Loss& loss : losses) out.append("; ").append(loss.field).append(": ").append(loss.why);
    return out;
  };
  using enum model::ReasoningWish::Effort;
  EXPECT_EQ(told({.effort = High, .summary = "auto"}, "gpt-4o", false),
            "nothing; reasoning_effort: the target has no such field");
  EXPECT_EQ(told({.effort = None}, "gpt-4o", false), "nothing");
  EXPECT_EQ(told({.show = true}, "gpt-4.1", false),
            "nothing; include_reasoning: the target has no such field");
  EXPECT_EQ(told({.effort = Max, .show = true}, "gpt-5.2", true),
            R"({"effort":"xhigh","summary":"auto"}; reasoning_effort: the nearest that the target has)");
  EXPECT_EQ(told({.effort = None}, "gpt-5-mini", true),
            R"({"effort":"minimal"}; reasoning_effort: the nearest that the target has)");
  EXPECT_EQ(told({.effort = None}, "gpt-5.1", true), R"({"effort":"none"})");
}

TEST(ResponsesRequest, WhatCannotBeSaidIsALossOrRefused) {
  auto request = from_chat();
  request.sampling.stop = {"x"};
  request.sampling.max_output_tokens = 1;
  request.reasoning = model::ReasoningWish{.budget_tokens = 5000};
  Losses losses;
  model::Target target;
  target.reasons = true;
  const std::string body = encoded(request, losses, target);
  EXPECT_NE(body.find(R"("max_output_tokens":16)"), std::string::npos);
  EXPECT_NE(body.find(R"("reasoning":{"effort":"medium"})"), std::string::npos);
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[0].field, "stop");
  EXPECT_EQ(losses[1].why, loss::kOutOfRange);
  EXPECT_EQ(losses[2].why, loss::kNearest);
  request.sampling.choices = 2;
  EXPECT_FALSE(provider_side().encode_request(request, {}, losses));
  request.sampling.choices = {};
  request.turns[0].parts.emplace_back(model::MediaPart{.kind = model::MediaPart::Kind::Audio});
  EXPECT_FALSE(provider_side().encode_request(request, {}, losses));
}

TEST(ResponsesRequest, AnotherProvidersFileIsRefused) {
  auto request = from_chat();
  request.turns[0].parts.emplace_back(
      model::MediaPart{.kind = model::MediaPart::Kind::File, .source = model::MediaPart::Source::FileId});
  Losses losses;
  EXPECT_TRUE(provider_side().encode_request(request, {}, losses)) << "chat's files are the same";
  request.dialect = model::Dialect::Anthropic;
  EXPECT_FALSE(provider_side().encode_request(request, {}, losses));
}

TEST(ResponsesRequest, CallIdsFitAndMeetTheirResults) {
  auto request = from_chat();
  const std::string long_id(90, 'x');
  model::Turn calls{.role = model::Role::Assistant};
  calls.parts.emplace_back(model::ToolCallPart{.id = long_id, .name = "f", .arguments = "{}"});
  calls.parts.emplace_back(model::ToolCallPart{.name = "g", .arguments = "null"});
  calls.parts.emplace_back(model::ToolCallPart{.name = "h", .arguments = "{}"});
  request.turns.push_back(calls);
  model::Turn results{.role = model::Role::User};
  results.parts.emplace_back(model::ToolResultPart{.name = "h"});
  results.parts.emplace_back(model::ToolResultPart{.name = "g"});
  results.parts.emplace_back(model::ToolResultPart{.call_id = long_id});
  request.turns.push_back(results);
  const auto again = decoded(encoded(request));
  const auto& made = again.turns[1].parts;
  const auto& found = again.turns[2].parts;
  ASSERT_EQ(found.size(), 3U);
  const auto id = [](const model::Part& part) { return part.as<model::ToolCallPart>()->id; };
  EXPECT_LE(id(made[0]).size(), 64U);
  EXPECT_EQ(found[0].as<model::ToolResultPart>()->call_id, id(made[2]));
  EXPECT_EQ(found[1].as<model::ToolResultPart>()->call_id, id(made[1]));
  EXPECT_EQ(found[2].as<model::ToolResultPart>()->call_id, id(made[0]));
  EXPECT_EQ(made[1].as<model::ToolCallPart>()->arguments, "{}");
}

TEST(ResponsesRequest, StatesGoToTheirMakersOnly) {
  auto request = from_chat();
  model::Turn turn{.role = model::Role::Assistant};
  model::Part ours(model::ReasoningPart{.text = "ours", .id = "rs_1"});
  ours.state = {model::Dialect::OpenAiResponses, "E"};
  model::Part theirs(model::ReasoningPart{.text = "theirs"});
  theirs.state = {model::Dialect::Anthropic, "S"};
  turn.parts = {theirs, ours, model::Part(model::ReasoningPart{.text = "nobody's"})};
  request.turns.push_back(turn);
  Losses losses;
  const std::string body = encoded(request, losses);
  EXPECT_NE(body.find(R"({"type":"reasoning","summary":[{"type":"summary_text","text":"ours"}],)"
                      R"("encrypted_content":"E"})"),
            std::string::npos)
      << "a client of another dialect does not know a summary from a thought: " << body;
  EXPECT_EQ(body.find("theirs"), std::string::npos);
  EXPECT_EQ(losses.size(), 2U);
}

TEST(ResponsesRequest, AThoughtKeepsItsIdBesideAnItemThatDoesSo) {
  const auto request = decoded(
      R"({"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"},)"
      R"({"type":"tool_search_call","id":"tsc_1","status":"completed"}]})");
  EXPECT_NE(encoded(request).find(R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"})"),
            std::string::npos);
}

TEST(ResponsesRequest, ATurnOfManyThoughtsIsWrittenInOnePass) {
  auto request = from_chat();
  model::Turn turn{.role = model::Role::Assistant};
  for (std::size_t i = 0; i < 200'000; ++i) {
    model::Part& part = turn.parts.emplace_back(model::ReasoningPart{.id = "rs"});
    part.state = {model::Dialect::OpenAiResponses, "E"};
  }
  request.turns.push_back(std::move(turn));
  EXPECT_GT(encoded(request).size(), 200'000U) << "within a test's time";
}

// A thought that OpenAI knows by its id beside a call that it does not is refused.
TEST(ResponsesRequest, NoItemOfATranslatedTurnHasAnId) {
  const auto request = decoded(
      R"({"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"},)"
      R"({"type":"web_search_call","id":"ws_1","status":"completed"},)"
      R"({"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c","output":"x"},)"
      R"({"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"t"}]}]})");
  const std::string body = encoded(request);
  EXPECT_NE(body.find(R"({"type":"reasoning","summary":[],"encrypted_content":"E"})"), std::string::npos)
      << body;
  EXPECT_EQ(body.find(R"("id":)"), std::string::npos) << body;
}

TEST(ResponsesRequest, WhatTravelledInACallsIdComesBack) {
  model::Part thought(model::ReasoningPart{.text = "hm"});
  thought.state = {model::Dialect::Anthropic, "S"};
  const Carried carried{.call = {model::Dialect::Gemini, "G"}, .reasoning = {thought}};
  const std::string id = *with_carried("call_1", carried);
  const std::string call =
      R"({"type":"function_call","call_id":")" + id + R"(","name":"f","arguments":"{}"})";
  const std::string body = R"({"model":"m","input":[)" + call +
                           R"(,{"type":"function_call_output","call_id":")" + id + R"(","output":"x"}]})";
  EXPECT_EQ(testing::describe(decoded(body)), R"(request openai_responses model=m usage_in_stream
  assistant
    reasoning "hm" state anthropic:S
    call call_1 f {} state gemini:G
  user
    result of call_1 f
      text "x"
)");
  const std::string held =
      R"({"model":"m","input":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":")" +
      state_field(thought.state, model::Dialect::OpenAiResponses) + R"("},)" + call + "]}";
  EXPECT_EQ(decoded(held).turns[0].parts.size(), 2U) << "the history holds the thought itself";
}

TEST(ResponsesRequest, TheTableNamesNothingTwice) {
  const SupportTable table = support();
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t j = i + 1; j < table.size(); ++j) EXPECT_NE(table[i].field, table[j].field);
  }
}

TEST(ResponsesRequest, AClientsOwnThoughtsKeepTheirKind) {
  const auto request =
      decoded(R"({"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"content":[)"
              R"({"type":"reasoning_text","text":"open weights"}]}]})");
  EXPECT_NE(encoded(request).find(R"("content":[{"type":"reasoning_text","text":"open weights"}])"),
            std::string::npos)
      << encoded(request);
}

TEST(ResponsesRequest, AThoughtOfAnothersThatHasNoStateIsNotOpenAis) {
  for (const std::string_view told :
       {R"("summary":[],"content":[{"type":"reasoning_text","text":"hm"}])",
        R"("summary":[{"type":"summary_text","text":"hm"}])", R"("summary":[])"}) {
    const auto request =
        decoded(R"({"model":"m","input":[{"type":"reasoning","id":"rs_1",)" + std::string(told) +
                R"(,"encrypted_content":")" + no_state_field(model::Dialect::OpenAiChat) +
                R"("},{"role":"user","content":"hi"}]})");
    Losses losses;
    const std::string body = encoded(request, losses);
    EXPECT_EQ(body.find("reasoning"), std::string::npos) << body;
    EXPECT_EQ(losses.size(), told.contains("hm") ? 1U : 0U);
  }
}

TEST(ResponsesRequest, AnAnthropicClientThatThinksIsShownASummary) {
  model::ChatRequest request = from_chat();
  request.dialect = model::Dialect::Anthropic;
  request.reasoning.emplace().budget_tokens = 8192;
  model::Target target;
  target.reasons = true;
  Losses losses;
  EXPECT_NE(encoded(request, losses, target).find(R"("summary":"auto")"), std::string::npos);
  request.reasoning->show = false;
  EXPECT_EQ(encoded(request, losses, target).find(R"("summary":"auto")"), std::string::npos);
}

}  // namespace
}  // namespace qq::dialects::openai_responses
