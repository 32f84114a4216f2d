#include <fakes/neutral.h>

#include "dialects/openai_chat/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_chat {
namespace request_encode_test {

using Chat = model::ChatQuirks;
using model::Part;
using model::Role;

// As another dialect's client would have asked.
model::ChatRequest asked(std::vector<Part> parts = {}) {
  model::ChatRequest request;
  request.dialect = model::Dialect::Anthropic;
  request.model = "asked";
  if (parts.empty()) parts.emplace_back(model::TextPart{.text = "Hi", .citations = {}});
  request.turns.push_back({.role = Role::User, .parts = std::move(parts), .name = {}, .extra = {}});
  return request;
}

Part text(std::string words) {
  return Part(model::TextPart{.text = std::move(words), .citations = {}});
}
Part call(std::string id, std::string name, std::string arguments = "{}") {
  return Part(
      model::ToolCallPart{.id = std::move(id), .name = std::move(name), .arguments = std::move(arguments)});
}
Part result(std::string id, std::string words, std::string name = {}) {
  return Part(model::ToolResultPart{
      .call_id = std::move(id), .name = std::move(name), .content = {text(std::move(words))}});
}
Part thought(std::string words, model::OpaqueState state = {}) {
  Part part(model::ReasoningPart{.text = std::move(words), .id = {}});
  part.state = std::move(state);
  return part;
}
void add(model::ChatRequest& request, Role role, std::vector<Part> parts) {
  request.turns.push_back({.role = role, .parts = std::move(parts), .name = {}, .extra = {}});
}

struct Encoded {
  std::string body;
  std::string losses;
  Error error;
};
Encoded encoded(const model::ChatRequest& request, const Chat& quirks = {}, bool reasons = true,
                std::string model = "up") {
  model::Target target;
  target.upstream_model = std::move(model);
  target.reasons = reasons;
  target.quirks.chat = quirks;
  Losses losses;
  const auto made = provider_side().encode_request(request, target, losses);
  Encoded out;
  if (!made) {
    out.error = made.error();
    return out;
  }
  out.body = made->body;
  EXPECT_FALSE(wire::check_json(out.body)) << out.body;
  for (const Loss& loss : losses) out.losses += loss.field + ": " + std::string(loss.why) + "\n";
  return out;
}
// What stands in `messages`.
std::string messages(const model::ChatRequest& request, const Chat& quirks = {}) {
  const std::string body = encoded(request, quirks).body;
  const auto value = wire::JsonValue(body).member("messages");
  return value ? std::string(value->text()) : std::string();
}
// What is asked beside the model and its messages.
std::string rest(const model::ChatRequest& request, const Chat& quirks = {}) {
  const std::string body = encoded(request, quirks).body;
  std::string out;
  for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
    if (members.key_is("model") || members.key_is("messages")) continue;
    out += std::string(members.raw_key()) + "=" + std::string(members.value().text()) + " ";
  }
  return out;
}

TEST(ChatRequestEncode, SaysNothingThatWasNotSaid) {
  EXPECT_EQ(encoded(asked()).body, R"({"model":"up","messages":[{"role":"user","content":"Hi"}]})");
}

TEST(ChatRequestEncode, StreamsAskForUsageWhereTheTargetTakesIt) {
  model::ChatRequest request = asked();
  request.stream = true;
  EXPECT_EQ(rest(request), R"(stream=true stream_options={"include_usage":true} )");
  model::Target mistral;
  mistral.quirks.force_include_usage = false;
  mistral.quirks.refuses_include_usage = true;
  request.usage_in_stream = true;
  Losses losses;
  EXPECT_EQ(provider_side().encode_request(request, mistral, losses)->body,
            R"({"messages":[{"role":"user","content":"Hi"}],"stream":true})");
}

TEST(ChatRequestEncode, WordsOfOpenAisOwnApiGoToItAlone) {
  model::ChatRequest request = asked();
  request.turns.insert(request.turns.begin(),
                       {.role = Role::Developer, .parts = {text("Rules")}, .name = {}, .extra = {}});
  request.sampling.max_output_tokens = 5;
  request.reasoning = model::ReasoningWish{
      .effort = model::ReasoningWish::Effort::Minimal, .budget_tokens = {}, .show = {}, .summary = {}};
  EXPECT_EQ(messages(request).substr(0, 18), R"([{"role":"system",)");
  EXPECT_EQ(rest(request), R"(reasoning_effort="low" max_tokens=5 )");
  EXPECT_EQ(encoded(request).losses, "thinking: the nearest that the target has\n");
  const Chat openai{.openai_words = true};
  EXPECT_EQ(messages(request, openai).substr(0, 21), R"([{"role":"developer",)");
  EXPECT_EQ(rest(request, openai), R"(reasoning_effort="low" max_completion_tokens=5 )");
}

TEST(ChatRequestEncode, ModelsAreToldToThinkInTheWordsThatTheyTake) {
  const auto told = [](model::ReasoningWish wish, const char* name, bool reasons) {
    model::ChatRequest request = asked();
    request.reasoning = std::move(wish);
    const Encoded made = encoded(request, {.openai_words = true}, reasons, name);
    const auto effort = wire::JsonValue(made.body).member("reasoning_effort");
    return (effort ? std::string(effort->text()) : "nothing") + "; " + made.losses;
  };
  using enum model::ReasoningWish::Effort;
  EXPECT_EQ(told({.budget_tokens = 8000}, "gpt-4o", false),
            "nothing; thinking: the target has no such field\n");
  EXPECT_EQ(told({.budget_tokens = 0}, "gpt-4o", false), "nothing; ");
  EXPECT_EQ(told({.effort = Max}, "gpt-5.2", true), "\"xhigh\"; thinking: the nearest that the target has\n");
  EXPECT_EQ(told({.effort = Minimal}, "gpt-5.1", true),
            "\"low\"; thinking: the nearest that the target has\n");
  EXPECT_EQ(told({.effort = None}, "o3", true), "\"low\"; thinking: the nearest that the target has\n");
  EXPECT_EQ(told({.effort = None}, "gpt-5.1", true), "\"none\"; ");
  model::ChatRequest own = asked();
  own.dialect = model::Dialect::OpenAiChat;
  own.reasoning = model::ReasoningWish{.effort = Max};
  EXPECT_NE(encoded(own, {}, false, "gpt-4o").body.find(R"("reasoning_effort":"max")"), std::string::npos)
      << "its own client gets its provider's error";
}

TEST(ChatRequestEncode, SaysHowMuchToThinkInTheProvidersWords) {
  model::ChatRequest request = asked();
  const auto with = [&](Chat::Thinking thinking) { return rest(request, {.thinking = thinking}); };
  request.reasoning = model::ReasoningWish{.effort = {}, .budget_tokens = 8000, .show = {}, .summary = {}};
  EXPECT_EQ(with(Chat::Thinking::Effort), R"(reasoning_effort="medium" )");
  EXPECT_EQ(with(Chat::Thinking::Object), R"(reasoning={"max_tokens":8000} )");
  EXPECT_EQ(with(Chat::Thinking::Budget), "enable_thinking=true thinking_budget=8000 ");
  EXPECT_EQ(with(Chat::Thinking::Switch), R"(thinking={"type":"enabled"} )");
  EXPECT_EQ(with(Chat::Thinking::SwitchAndEffort),
            R"(thinking={"type":"enabled"} reasoning_effort="medium" )");
  request.reasoning->budget_tokens = 0;
  EXPECT_EQ(with(Chat::Thinking::Effort), R"(reasoning_effort="none" )");
  EXPECT_EQ(with(Chat::Thinking::Object), R"(reasoning={"effort":"none"} )");
  EXPECT_EQ(with(Chat::Thinking::Budget), "enable_thinking=false ");
  EXPECT_EQ(with(Chat::Thinking::SwitchAndEffort), R"(thinking={"type":"disabled"} )");
}

TEST(ChatRequestEncode, ResultsAreMessagesOfTheirOwnBeforeWhatIsSaid) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant, {text("I'll look. "), call("a", "f", ""), call("b", "g", "{\"x\":1}")});
  add(request, Role::User, {result("a", "1"), result("b", "2"), text("Go on")});
  EXPECT_EQ(
      messages(request),
      R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"I'll look. ","tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"g","arguments":"{\"x\":1}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},)"
      R"({"role":"user","content":"Go on"}])");
}

TEST(ChatRequestEncode, WhatAResultShowsIsShownInTheNextMessage) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant, {call("a", "f")});
  Part shown(model::ToolResultPart{.call_id = "a", .name = {}, .content = {}});
  shown.as<model::ToolResultPart>()->content.emplace_back(
      model::MediaPart{.data = "AAAA", .media_type = "image/png", .name = {}, .detail = {}});
  add(request, Role::User, {shown});
  const std::string made = messages(request);
  EXPECT_NE(made.find(R"x({"role":"tool","tool_call_id":"a","content":"(see the next message)"},)x"
                      R"({"role":"user","content":[{"type":"image_url","image_url":)"
                      R"({"url":"data:image/png;base64,AAAA"}}]})"),
            std::string::npos)
      << made;
}

TEST(ChatRequestEncode, CallsInTurnsOfTheirOwnAreOneMessage) {
  model::ChatRequest request = asked();
  request.dialect = model::Dialect::OpenAiResponses;
  add(request, Role::Assistant, {call("a", "f")});
  add(request, Role::Assistant, {call("b", "g")});
  add(request, Role::User, {result("a", "1")});
  add(request, Role::User, {result("b", "2")});
  EXPECT_EQ(
      messages(request),
      R"([{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}])");
}

TEST(ChatRequestEncode, IdsBecomeWhatTheTargetTakes) {
  model::ChatRequest request = asked();
  const std::string long_id(60, 'x');
  add(request, Role::Assistant,
      {call("toolu_01", "f"), call("abcDEF123", "f"), call(long_id, "f"), call("", "h")});
  add(request, Role::User,
      {result("toolu_01", "1"), result("abcDEF123", "2"), result(long_id, "3"), result("", "4", "h")});
  const auto ids = [&](const Chat& quirks) {
    std::vector<std::string> found;
    const std::string made = messages(request, quirks);
    const wire::JsonValue list(made);
    for (wire::JsonElements each(list); each.next();) {
      if (const auto id = each.value().member("tool_call_id")) found.push_back(id->string());
      const auto calls = each.value().member("tool_calls");
      for (wire::JsonElements one(calls.value_or(wire::JsonValue())); calls && one.next();)
        found.push_back(one.value().member("id")->string());
    }
    return found;
  };
  const std::vector<std::string> usual = ids({});
  ASSERT_EQ(usual.size(), 8U);
  EXPECT_EQ(usual[0], "toolu_01");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(usual[i], usual[i + 4]);
  EXPECT_LE(usual[2].size(), 40U);
  const std::vector<std::string> nine = ids({.nine_letter_ids = true});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(nine[i].size(), 9U);
    EXPECT_EQ(nine[i], nine[i + 4]);
  }
  EXPECT_EQ(nine[1], "abcDEF123");
}

TEST(ChatRequestEncode, ThoughtsGoWhereTheProviderWantsThem) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant,
      {thought("why", {model::Dialect::OpenAiChat, R"({"type":"reasoning.text","signature":"s","index":0})"}),
       call("a", "f")});
  add(request, Role::User, {result("a", "1")});
  add(request, Role::Assistant, {call("b", "f")});
  const auto made = [&](Chat::Thoughts thoughts) { return messages(request, {.thoughts = thoughts}); };
  const auto holds = [&](Chat::Thoughts thoughts, const char* what) {
    return made(thoughts).find(what) != std::string::npos;
  };
  EXPECT_FALSE(holds(Chat::Thoughts::Dropped, "why"));
  EXPECT_EQ(encoded(request).losses, "messages: the target has no such field\n");
  EXPECT_TRUE(holds(Chat::Thoughts::Content, R"("content":null,"reasoning_content":"why")"));
  EXPECT_FALSE(holds(Chat::Thoughts::Content, R"("reasoning_content":"")"));
  EXPECT_TRUE(holds(Chat::Thoughts::WithCalls, R"("reasoning_content":"")"));
  EXPECT_TRUE(holds(Chat::Thoughts::FilledCalls, R"("reasoning_content":" ")"));
  EXPECT_TRUE(holds(Chat::Thoughts::Parts,
                    R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}])"));
  EXPECT_TRUE(
      holds(Chat::Thoughts::Details,
            R"("reasoning_details":[{"text":"why","type":"reasoning.text","signature":"s","index":0}])"))
      << made(Chat::Thoughts::Details);
}

TEST(ChatRequestEncode, AStateOfSomebodyElseIsNotSent) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant, {thought("why", {model::Dialect::Anthropic, "sig"}), text("x")});
  add(request, Role::User, {text("y")});
  const Encoded made = encoded(request, {.thoughts = Chat::Thoughts::Details});
  EXPECT_EQ(made.body.find("why"), std::string::npos);
  EXPECT_EQ(made.losses, "messages: it means something only to the provider that made it\n");
}

TEST(ChatRequestEncode, AStateThatIsNoJsonBreaksNothing) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant,
      {thought("why", {model::Dialect::OpenAiChat, R"({"type":"x"},{"injected":1)"})});
  add(request, Role::User, {text("y")});
  EXPECT_EQ(messages(request, {.thoughts = Chat::Thoughts::Details}).find("\"injected\""), std::string::npos);
}

TEST(ChatRequestEncode, ToolChoiceInTheProvidersWords) {
  model::ChatRequest request = asked();
  request.tools.push_back(
      {.name = "f", .description = {}, .schema = {}, .strict = {}, .cache = {}, .extra = {}});
  request.tools.push_back(
      {.name = "g", .description = {}, .schema = {}, .strict = {}, .cache = {}, .extra = {}});
  using Mode = model::ToolChoice::Mode;
  const auto with = [&](Mode mode, std::vector<std::string> only, const Chat& quirks = {}) {
    request.tool_choice = model::ToolChoice{mode, std::move(only)};
    const std::string made = rest(request, quirks);
    const std::size_t at = made.find("tool_choice");
    return (made.find("\"g\"") < at ? "f,g " : "f ") + (at == std::string::npos ? "-" : made.substr(at));
  };
  EXPECT_EQ(with(Mode::Required, {}), "f,g tool_choice=\"required\" ");
  EXPECT_EQ(with(Mode::Required, {}, {.must_call = Chat::MustCall::Any}), "f,g tool_choice=\"any\" ");
  EXPECT_EQ(with(Mode::Required, {}, {.must_call = Chat::MustCall::Never}), "f,g tool_choice=\"auto\" ");
  EXPECT_EQ(encoded(request, {.must_call = Chat::MustCall::Never}).losses,
            "tool_choice: the nearest that the target has\n");
  EXPECT_EQ(with(Mode::None, {}, {.must_call = Chat::MustCall::Never}), "f -") << "without tools";
  EXPECT_EQ(with(Mode::Required, {"f"}), R"(f,g tool_choice={"type":"function","function":{"name":"f"}} )");
  EXPECT_EQ(with(Mode::Auto, {"f"}), "f tool_choice=\"auto\" ");
  EXPECT_EQ(
      with(Mode::Auto, {"f"}, {.openai_words = true}),
      R"(f,g tool_choice={"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}} )");
}

TEST(ChatRequestEncode, CacheMarksOfResultsGoToTheTextBeforeThem) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant, {text("Let me look."), call("a", "f")});
  Part marked = result("a", "1");
  marked.cache = model::CacheMark{.ttl = model::CacheMark::Ttl::OneHour};
  add(request, Role::User, {marked});
  const Chat openrouter{.takes_cache_control = true};
  const Encoded made = encoded(request, openrouter);
  EXPECT_NE(made.body.find(
                R"({"type":"text","text":"Let me look.","cache_control":{"type":"ephemeral","ttl":"1h"}})"),
            std::string::npos)
      << made.body;
  EXPECT_EQ(made.losses, "");
  // A mark inside of the result is meant the same way.
  request.turns[2].parts[0].cache.reset();
  request.turns[2].parts[0].as<model::ToolResultPart>()->content[0].cache = model::CacheMark{};
  EXPECT_NE(encoded(request, openrouter).body.find(R"("cache_control":{"type":"ephemeral"}})"),
            std::string::npos);
  request.turns[0].parts.clear();
  request.turns[1].parts.erase(request.turns[1].parts.begin());
  EXPECT_EQ(encoded(request, openrouter).losses, "cache_control: the target has no such field\n");
}

TEST(ChatRequestEncode, OpenAiGetsMetadataOfWhatItStoresAlone) {
  model::ChatRequest request = asked();
  request.dialect = model::Dialect::OpenAiResponses;
  request.metadata = R"({"k":"v"})";
  const Chat openai{.openai_words = true};
  EXPECT_EQ(rest(request, openai), "");
  EXPECT_EQ(encoded(request, openai).losses,
            "metadata: the target refuses it together with something else that was asked for\n");
  EXPECT_EQ(rest(request), R"(metadata={"k":"v"} )") << "others keep nothing, and take it";
  request.store = true;
  EXPECT_EQ(rest(request, openai), R"(metadata={"k":"v"} store=true )");
}

TEST(ChatRequestEncode, APrefillIsMarkedWhereItCanBe) {
  model::ChatRequest request = asked();
  add(request, Role::Assistant, {text("Sure")});
  EXPECT_TRUE(
      messages(request, {.prefill = Chat::Prefill::Prefix}).ends_with(R"("content":"Sure","prefix":true}])"));
  EXPECT_TRUE(messages(request, {.prefill = Chat::Prefill::Partial})
                  .ends_with(R"("content":"Sure","partial":true}])"));
  EXPECT_EQ(encoded(request).losses, "messages: the nearest that the target has\n");
}

TEST(ChatRequestEncode, StrictProvidersGetNothingTheyDoNotKnow) {
  model::ChatRequest request = asked();
  request.user = "u";
  request.service_tier = "flex";
  request.sampling.seed = 3;
  const Encoded made = encoded(request, {.strict_fields = true});
  EXPECT_EQ(made.body, R"({"model":"up","messages":[{"role":"user","content":"Hi"}],"random_seed":3})");
  EXPECT_EQ(made.losses,
            "metadata.user_id: the target has no such field\nservice_tier: the target has no such field\n");
}

TEST(ChatRequestEncode, WhatCannotBeSaidIsALossOrRefused) {
  model::ChatRequest request = asked();
  request.sampling.top_k = 4;
  request.sampling.temperature = 1.5;
  request.sampling.stop = {"1", "2", "3", "4", "5"};
  request.turns[0].parts[0].cache = model::CacheMark{};
  request.extra = {{"container", "\"c\""}};
  const Encoded made = encoded(request, {.openai_words = true, .temperature_max = 1});
  EXPECT_EQ(made.losses,
            "top_k: the target has no such field\ncache_control: the target has no such field\n"
            "container: the target has no such field\ntemperature: clamped to what the target takes\n"
            "stop_sequences: more of them than the target takes\n");
  EXPECT_EQ(
      made.body,
      R"({"model":"up","messages":[{"role":"user","content":"Hi"}],"temperature":1,"stop":["1","2","3","4"]})");
  EXPECT_EQ(
      encoded(request, {.takes_top_k = true, .takes_cache_control = true}).body,
      R"({"model":"up","messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}],)"
      R"("temperature":1.5,"top_k":4,"stop":["1","2","3","4","5"]})");
  request.conversation = "conv_1";
  EXPECT_EQ(encoded(request).error.param, "conversation");
}

TEST(ChatRequestEncode, MediaOfAllKinds) {
  using model::MediaPart;
  std::vector<Part> parts;
  parts.emplace_back(MediaPart{
      .source = MediaPart::Source::Url, .data = "https://x", .media_type = {}, .name = {}, .detail = "low"});
  parts.emplace_back(MediaPart{
      .kind = MediaPart::Kind::Audio, .data = "AA", .media_type = "audio/x-wav", .name = {}, .detail = {}});
  parts.emplace_back(MediaPart{.kind = MediaPart::Kind::File,
                               .data = "BB",
                               .media_type = "application/pdf",
                               .name = {},
                               .detail = {}});
  parts.emplace_back(MediaPart{.kind = MediaPart::Kind::File,
                               .source = MediaPart::Source::FileId,
                               .data = "file-1",
                               .media_type = {},
                               .name = {},
                               .detail = {}});
  parts.emplace_back(MediaPart{.kind = MediaPart::Kind::File,
                               .source = MediaPart::Source::Text,
                               .data = "words",
                               .media_type = {},
                               .name = "a.txt",
                               .detail = {}});
  model::ChatRequest request = asked(parts);
  request.dialect = model::Dialect::OpenAiResponses;
  EXPECT_EQ(
      messages(request),
      R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x","detail":"low"}},)"
      R"({"type":"input_audio","input_audio":{"data":"AA","format":"wav"}},)"
      R"({"type":"file","file":{"filename":"file","file_data":"data:application/pdf;base64,BB"}},)"
      R"({"type":"file","file":{"file_id":"file-1"}},{"type":"text","text":"a.txt:\nwords"}]}])");
}

TEST(ChatRequestEncode, AFileOfAnotherProviderIsNoFileOfThisOne) {
  using model::MediaPart;
  const auto named_in = [](model::Dialect dialect, bool in_a_result) {
    std::vector<Part> parts;
    parts.emplace_back(MediaPart{.kind = MediaPart::Kind::File,
                                 .source = MediaPart::Source::FileId,
                                 .data = "file-1",
                                 .media_type = {},
                                 .name = {},
                                 .detail = {}});
    if (in_a_result) {
      model::ToolResultPart result;
      result.call_id = "call_1";
      result.content = std::move(parts);
      parts = {};
      parts.emplace_back(std::move(result));
    }
    model::ChatRequest request = asked(std::move(parts));
    request.dialect = dialect;
    return encoded(request).error.message;
  };
  for (const bool in_a_result : {false, true}) {
    EXPECT_NE(named_in(model::Dialect::Anthropic, in_a_result).find("another provider"), std::string::npos);
    EXPECT_EQ(named_in(model::Dialect::OpenAiResponses, in_a_result), "");
  }
}

TEST(ChatRequestEncode, TheTableNamesEveryFieldOnce) {
  std::vector<Field> seen;
  for (const SupportEntry& entry : support()) {
    EXPECT_EQ(std::ranges::find(seen, entry.field), seen.end());
    EXPECT_NE(entry.support.verdict, Support::Verdict::Whole);
    seen.push_back(entry.field);
  }
}

}  // namespace request_encode_test
}  // namespace qq::dialects::openai_chat
