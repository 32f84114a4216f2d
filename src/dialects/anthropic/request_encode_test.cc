// What a target of this dialect is sent.
#include <fakes/anthropic.h>

namespace qq::dialects::anthropic {
namespace {

using model::Dialect;
using model::Role;
using testing::call;
using testing::decoded;
using testing::foreign;
using testing::result;
using testing::Sent;
using testing::sent;
using testing::target_of;
using testing::text;
using testing::thought;
using testing::turn;

constexpr std::string_view kBody =
    R"({"model":"asked","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hi"}]})";

model::ChatRequest hello() {
  return foreign(turn(Role::User, text("hi")));
}
model::Tool tool(std::string name) {
  return {.name = std::move(name),
          .description = {},
          .schema = R"({"type":"object","properties":{}})",
          .extra = {}};
}
std::string why_not_sent(const model::ChatRequest& request) {
  Losses losses;
  const auto encoded = provider_side().encode_request(request, target_of("claude-sonnet-4-5"), losses);
  return encoded ? "sent" : encoded.error().param;
}

// ---- The envelope

TEST(AnthropicTarget, TheEnvelopeIsTheTargets) {
  const auto request = decoded(kBody, {.beta = "a, b"});
  const Sent direct = sent(request, target_of("claude-x"));
  EXPECT_EQ(
      direct.body,
      R"({"model":"claude-x","stream":true,"max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
  EXPECT_EQ(direct.headers, "anthropic-beta: a, b\r\n");
  const Sent vertex = sent(request, target_of("claude-x", model::MessagesForm::Vertex));
  EXPECT_EQ(
      vertex.body,
      R"({"anthropic_version":"vertex-2023-10-16","stream":true,"max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
  EXPECT_EQ(vertex.headers, "anthropic-beta: a, b\r\n");
  const Sent bedrock = sent(request, target_of("claude-x", model::MessagesForm::BedrockInvoke));
  EXPECT_EQ(
      bedrock.body,
      R"({"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a","b"],"max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
  EXPECT_EQ(bedrock.headers, "");
}

TEST(AnthropicTarget, NoHeaderCanBeSmuggledIn) {
  EXPECT_EQ(
      sent(
          decoded(
              R"({"model":"m","max_tokens":1,"anthropic_beta":["a\r\nx: y"],"messages":[{"role":"user","content":"hi"}]})"))
          .headers,
      "anthropic-beta: ax: y\r\n");
}

TEST(AnthropicTarget, WithoutALimitTheFamilysIsSent) {
  for (const auto& [name, most] : {std::pair<std::string, std::string>{"claude-3-haiku-20240307", "4096"},
                                   {"claude-3-5-sonnet-20240620", "8192"},
                                   {"claude-3-7-sonnet-latest", "64000"},
                                   {"claude-opus-4-20250514", "32000"},
                                   {"us.anthropic.claude-opus-4-1-20250805-v1:0", "32000"},
                                   {"claude-sonnet-4-5@20250929", "64000"},
                                   {"claude-opus-4-6", "128000"},
                                   {"claude-sonnet-9", "64000"},
                                   {"kimi-k9", "8192"}}) {
    EXPECT_EQ(sent(hello(), name).at("max_tokens"), most) << name;
  }
}

// ---- Turns

TEST(AnthropicTarget, ResultsStandFirstInOneTurn) {
  const Sent out = sent(foreign(
      turn(Role::System, text("s1")), turn(Role::User, text("q")),
      turn(Role::Assistant, call("c1", "f", "{}")), turn(Role::Assistant, call("c2", "g", R"({"a":1})")),
      turn(Role::User, result("c1", "r1")), turn(Role::User, text("and?"), result("c2", "r2"))));
  EXPECT_EQ(out.at("system"), R"([{"type":"text","text":"s1"}])");
  EXPECT_EQ(
      out.at("messages"),
      R"([{"role":"user","content":[{"type":"text","text":"q"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"g","input":{"a":1}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r1"}]},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"r2"}]},{"type":"text","text":"and?"}]}])");
  EXPECT_EQ(
      out.at("tools"),
      R"([{"name":"f","input_schema":{"type":"object","properties":{}}},{"name":"g","input_schema":{"type":"object","properties":{}}}])")
      << "calls without declared tools are refused";
  EXPECT_EQ(out.at("tool_choice"), R"({"type":"none"})");
}

TEST(AnthropicTarget, TheUserSpeaksFirstAndNothingIsBlank) {
  const Sent out =
      sent(foreign(turn(Role::Assistant, text("Hello!")), turn(Role::User, text(" \n"), text("q")),
                   turn(Role::Assistant, text("")), turn(Role::User, text("r"))));
  EXPECT_EQ(
      out.at("messages"),
      R"([{"role":"user","content":[{"type":"text","text":"."}]},{"role":"assistant","content":[{"type":"text","text":"Hello!"}]},)"
      R"({"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"r"}]}])");
  EXPECT_EQ(out.lost(), "messages: the nearest that the target has\n");
  EXPECT_EQ(sent(foreign(turn(Role::System, text("only")))).at("messages"),
            R"([{"role":"user","content":[{"type":"text","text":"."}]}])");
}

TEST(AnthropicTarget, ABlankLastQuestionDoesNotMakeTheAnswerBeforeItABeginning) {
  EXPECT_THAT(sent(foreign(turn(Role::User, text("q")), turn(Role::Assistant, text("a ")),
                           turn(Role::User, text(""))))
                  .at("messages"),
              ::testing::EndsWith(R"({"role":"user","content":[{"type":"text","text":"."}]}])"));
}

TEST(AnthropicTarget, ABeginningOfTheAnswerEndsWithoutWhiteSpace) {
  const Sent out = sent(foreign(turn(Role::User, text("q")), turn(Role::Assistant, text("It is \n"))));
  EXPECT_THAT(out.at("messages"), ::testing::HasSubstr(R"({"type":"text","text":"It is"})"));
  EXPECT_EQ(out.lost(), "messages: clamped to what the target takes\n");
}

TEST(AnthropicTarget, LateSystemTurnsAreHoistedUnlessAnAnthropicClientWroteThem) {
  const Sent out = sent(foreign(turn(Role::User, text("q")), turn(Role::Developer, text("late"))));
  EXPECT_EQ(out.at("system"), R"([{"type":"text","text":"late"}])");
  EXPECT_EQ(out.lost(), "messages: the nearest that the target has\n");
  const Sent own = sent(decoded(
      R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"system","content":"late"}]})"));
  EXPECT_THAT(own.at("messages"),
              ::testing::HasSubstr(R"({"role":"system","content":[{"type":"text","text":"late"}]})"));
  EXPECT_EQ(own.lost(), "");
}

TEST(AnthropicTarget, IdsAreMadeToFitAndUsedOnce) {
  const Sent out = sent(
      foreign(turn(Role::User, text("q")), turn(Role::Assistant, call("a.b", "f", "{}"), call("", "g", "{}")),
              turn(Role::User, result("a.b", "1"), result("", "2", "g")),
              turn(Role::Assistant, call("x", "f", "{}")), turn(Role::User, result("x", "3")),
              turn(Role::Assistant, call("x", "f", "{}")), turn(Role::User, result("x", "4"))));
  std::vector<std::string> ids;
  for (wire::JsonElements messages(*out.json().member("messages")); messages.next();) {
    for (wire::JsonElements blocks(*messages.value().member("content")); blocks.next();) {
      for (const char* const key : {"id", "tool_use_id"}) {
        if (const auto id = blocks.value().member(key)) ids.push_back(id->string());
      }
    }
  }
  EXPECT_THAT(ids, ::testing::ElementsAre(::testing::StartsWith("a_b_"), "call_1", ids[0], "call_1", "x", "x",
                                          "x-2", "x-2"));
}

TEST(AnthropicTarget, ArgumentsBecomeObjects) {
  const Sent out = sent(
      foreign(turn(Role::User, text("q")), turn(Role::Assistant, call("1", "f", ""), call("2", "f", "null"),
                                                call("3", "f", "{\"a\":"), call("4", "f", "[1]"))));
  EXPECT_THAT(
      out.at("messages"),
      ::testing::HasSubstr(
          R"("input":{}},{"type":"tool_use","id":"2","name":"f","input":{}},{"type":"tool_use","id":"3","name":"f","input":{"arguments":"{\"a\":"}},{"type":"tool_use","id":"4","name":"f","input":{"arguments":"[1]"}})"));
  EXPECT_THAT(out.lost(), ::testing::HasSubstr("no JSON object"));
}

TEST(AnthropicTarget, OnlyItsOwnThoughtsGoBack) {
  const Sent out =
      sent(foreign(turn(Role::User, text("q")),
                   turn(Role::Assistant, thought("mine", {Dialect::Anthropic, "c2ln"}),
                        thought("theirs", {Dialect::Gemini, "x"}), thought("plain", {}), text("a")),
                   turn(Role::User, text("r"))));
  EXPECT_THAT(
      out.at("messages"),
      ::testing::HasSubstr(
          R"("content":[{"type":"thinking","thinking":"mine","signature":"c2ln"},{"type":"text","text":"a"}])"));
  EXPECT_THAT(out.lost(), ::testing::HasSubstr("it means something only to the provider that made it"));
}

TEST(AnthropicTarget, MediaAndFiles) {
  using Source = model::MediaPart::Source;
  using Kind = model::MediaPart::Kind;
  const auto media = [](Kind kind, Source source, std::string data, std::string type, std::string name = {}) {
    return model::Part(model::MediaPart{.kind = kind,
                                        .source = source,
                                        .data = std::move(data),
                                        .media_type = std::move(type),
                                        .name = std::move(name)});
  };
  const Sent out =
      sent(foreign(turn(Role::User, media(Kind::Image, Source::Base64, "AAAA", "image/png"),
                        media(Kind::Image, Source::Url, "https://e.org/a.png", ""),
                        media(Kind::File, Source::Base64, "JVBERg==", "application/pdf", "a.pdf"),
                        media(Kind::File, Source::Base64, "aGk=", "text/csv"))));
  EXPECT_EQ(
      out.at("messages"),
      R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
      R"({"type":"image","source":{"type":"url","url":"https://e.org/a.png"}},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"a.pdf"},)"
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}]}])");
  EXPECT_EQ(why_not_sent(foreign(turn(Role::User, media(Kind::File, Source::FileId, "file-1", "")))),
            "file_id");
  EXPECT_EQ(why_not_sent(foreign(turn(Role::User, media(Kind::Audio, Source::Base64, "AAAA", "audio/wav")))),
            "messages[].content");
  const Sent answered =
      sent(foreign(turn(Role::User, text("q")),
                   turn(Role::Assistant, text("a"), media(Kind::Image, Source::Base64, "AAAA", "image/png")),
                   turn(Role::User, text("r"))));
  EXPECT_EQ(answered.lost(), "messages[].content: the caller's dialect has no place for it\n");
}

TEST(AnthropicTarget, MarksThatAreNotWrittenTakeNobodysPlace) {
  const auto with_mark = [](model::Part part) {
    part.cache = model::CacheMark{};
    return part;
  };
  model::Part result_part = result("c", "r");
  result_part.as<model::ToolResultPart>()->content.push_back(with_mark(text(" \n")));
  const Sent out =
      sent(foreign(turn(Role::User, with_mark(text("1"))),
                   turn(Role::Assistant, with_mark(thought("hm", {Dialect::Anthropic, "c2ln"})),
                        with_mark(text("2")), call("c", "f", "{}")),
                   turn(Role::User, std::move(result_part), with_mark(text("3")), with_mark(text("4")))));
  std::size_t marks = 0;
  for (std::size_t at = out.body.find("cache_control"); at != std::string::npos;
       at = out.body.find("cache_control", at + 1))
    ++marks;
  EXPECT_EQ(marks, 4U) << out.body;
}

TEST(AnthropicTarget, TheLastFourCacheMarksStay) {
  model::ChatRequest request = hello();
  request.tools.push_back(tool("f"));
  request.tools[0].cache = model::CacheMark{};
  for (int i = 0; i < 4; ++i) {
    request.turns[0].parts.push_back(text("part " + std::to_string(i)));
    request.turns[0].parts.back().cache = model::CacheMark{.ttl = model::CacheMark::Ttl::OneHour};
  }
  const Sent out = sent(request);
  EXPECT_EQ(out.at("tools").find("cache_control"), std::string::npos);
  EXPECT_THAT(out.at("messages"),
              ::testing::HasSubstr(R"("text":"part 0","cache_control":{"type":"ephemeral","ttl":"1h"}})"));
  EXPECT_EQ(out.lost(), "cache_control: more of them than the target takes\n");
}

// ---- Tools

TEST(AnthropicTarget, ToolChoices) {
  using Mode = model::ToolChoice::Mode;
  model::ChatRequest request = hello();
  request.tools = {tool("f"), tool("g"), tool("h")};
  const auto choose = [&](Mode mode, std::vector<std::string> only) {
    request.tool_choice = model::ToolChoice{mode, std::move(only)};
    const Sent out = sent(request);
    std::string names;
    for (wire::JsonElements tools(*out.json().member("tools")); tools.next();)
      names += tools.value().member("name")->string();
    return names + " " + out.at("tool_choice");
  };
  EXPECT_EQ(choose(Mode::Auto, {}), R"(fgh {"type":"auto"})");
  EXPECT_EQ(choose(Mode::None, {}), R"(fgh {"type":"none"})");
  EXPECT_EQ(choose(Mode::Required, {}), R"(fgh {"type":"any"})");
  EXPECT_EQ(choose(Mode::Required, {"g"}), R"(fgh {"type":"tool","name":"g"})");
  EXPECT_EQ(choose(Mode::Required, {"g", "h"}), R"(gh {"type":"any"})");
  EXPECT_EQ(choose(Mode::Auto, {"g"}), R"(g {"type":"auto"})");
  request.parallel_tool_calls = false;
  EXPECT_EQ(choose(Mode::Required, {}), R"(fgh {"type":"any","disable_parallel_tool_use":true})");
  request.tool_choice.reset();
  EXPECT_EQ(sent(request).at("tool_choice"), R"({"type":"auto","disable_parallel_tool_use":true})");
}

TEST(AnthropicTarget, SchemasAreMadeToFit) {
  model::ChatRequest request = hello();
  request.tools = {tool("f"), tool("g"), tool("h")};
  request.tools[0].schema = "";
  request.tools[1].schema = R"({"properties":{}})";
  request.tools[2].strict = true;
  request.tools[2].schema =
      R"({"type":"object","properties":{"minimum":{"type":"integer","minimum":1},"l":{"type":"array","minItems":2,"items":{"oneOf":[{"type":"object","properties":{}},{"type":"null"}]}}},"required":["l"]})";
  const Sent out = sent(request);
  EXPECT_EQ(
      out.at("tools"),
      R"([{"name":"f","input_schema":{"type":"object","properties":{}}},{"name":"g","input_schema":{"type":"object","properties":{}}},)"
      R"({"name":"h","input_schema":{"type":"object","properties":{"minimum":{"type":"integer"},"l":{"type":"array","items":{"anyOf":[{"type":"object","properties":{},"additionalProperties":false},{"type":"null"}]}}},"required":["l"],"additionalProperties":false},"strict":true}])");
  EXPECT_EQ(out.lost(), "tools[].h: a word of JSON Schema that the target does not know\n");
}

TEST(AnthropicTarget, SchemasLoseWhatStructuredOutputsDoNotKnow) {
  const auto adapted = [](std::string schema) {
    model::ChatRequest request = hello();
    request.tools = {tool("f")};
    request.tools[0].strict = true;
    request.tools[0].schema = std::move(schema);
    const Sent out = sent(request);
    EXPECT_EQ(out.lost(), "tools[].f: a word of JSON Schema that the target does not know\n");
    const std::string tools = out.at("tools");
    std::string made;
    for (wire::JsonElements each{wire::JsonValue(tools)}; each.next();)
      made = each.value().member("input_schema")->text();
    return made;
  };
  EXPECT_EQ(adapted(R"({"type":"object","anyOf":[{"type":"null"}],"oneOf":[{"type":"string"}]})"),
            R"({"type":"object","anyOf":[{"type":"null"}],"additionalProperties":false})");
  EXPECT_EQ(
      adapted(
          R"({"type":"object","properties":{"not":{"type":"string","format":"uri"},"b":{"type":"string","format":"phone"}},"not":{},"if":{},"then":{},"dependentRequired":{}})"),
      R"({"type":"object","properties":{"not":{"type":"string","format":"uri"},"b":{"type":"string"}},"additionalProperties":false})");
  EXPECT_EQ(
      adapted(R"({"type":"object","properties":{"t":{"type":"array","prefixItems":[{}],"items":[{}]}}})"),
      R"({"type":"object","properties":{"t":{"type":"array"}},"additionalProperties":false})");
}

TEST(AnthropicTarget, StrictIsSaidToModelsThatKnowIt) {
  model::ChatRequest request = hello();
  request.tools = {tool("f"), tool("g")};
  request.tools[0].strict = true;
  request.tools[1].strict = false;
  for (const char* old :
       {"claude-sonnet-4-20250514", "claude-3-7-sonnet-latest", "claude-opus-4-0", "kimi-k2"}) {
    const Sent out = sent(request, old);
    EXPECT_THAT(out.body, ::testing::Not(::testing::HasSubstr("strict"))) << old;
    EXPECT_EQ(out.lost(), "tools[].function.strict: the target has no such field\n") << old;
  }
  const Sent out = sent(request, "claude-opus-4-5");
  EXPECT_THAT(out.body, ::testing::HasSubstr(R"("strict":true)"));
  EXPECT_THAT(out.body, ::testing::Not(::testing::HasSubstr(R"("strict":false)")));
  EXPECT_EQ(out.lost(), "");
  const auto own = decoded(
      R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{},"strict":true}]})");
  EXPECT_THAT(sent(own, "claude-sonnet-4-0").body, ::testing::HasSubstr(R"("strict":true)"))
      << "its own client gets its provider's error";
}

TEST(AnthropicTarget, FilesAreTextOrPdf) {
  const auto given = [](std::string type, std::string name, std::string data) {
    model::MediaPart file{
        .kind = model::MediaPart::Kind::File, .data = std::move(data), .media_type = std::move(type)};
    file.name = std::move(name);
    return foreign(turn(Role::User, model::Part(std::move(file))));
  };
  EXPECT_THAT(sent(given("application/json", "", "e30=")).at("messages"),
              ::testing::HasSubstr(R"({"type":"text","media_type":"text/plain","data":"{}"})"));
  EXPECT_THAT(sent(given("", "", "JVBERi0=")).at("messages"),
              ::testing::HasSubstr(R"({"type":"base64","media_type":"application/pdf","data":"JVBERi0="})"));
  EXPECT_EQ(why_not_sent(given("application/msword", "a.doc", "AAAA")), "file_data");
  model::MediaPart picture{.data = "/9j/AAAA"};
  EXPECT_THAT(sent(foreign(turn(Role::User, model::Part(std::move(picture))))).at("messages"),
              ::testing::HasSubstr(R"("media_type":"image/jpeg")"));
}

TEST(AnthropicTarget, CustomAndHostedTools) {
  model::ChatRequest request = foreign(turn(Role::User, text("q")));
  model::Part custom = call("c1", "patch", "*** Begin");
  custom.as<model::ToolCallPart>()->kind = model::ToolCallPart::Kind::Custom;
  request.turns.push_back(turn(Role::Assistant, custom));
  request.tools = {tool("patch"), tool("search")};
  request.tools[0].kind = model::Tool::Kind::Custom;
  request.tools[1].kind = model::Tool::Kind::Hosted;
  request.tools[1].hosted_by = Dialect::OpenAiResponses;
  const Sent out = sent(request);
  EXPECT_EQ(
      out.at("tools"),
      R"([{"name":"patch","input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}])");
  EXPECT_THAT(out.at("messages"), ::testing::HasSubstr(R"("input":{"input":"*** Begin"})"));
  EXPECT_THAT(out.lost(), ::testing::HasSubstr("a tool that only its own provider can run"));
}

// ---- Thinking and sampling

Sent with_effort(model::ReasoningWish wish, const std::string& name, std::optional<std::int64_t> most = {},
                 model::ChatRequest request = hello()) {
  request.reasoning = std::move(wish);
  request.sampling.max_output_tokens = most;
  return sent(request, name);
}

TEST(AnthropicTarget, EffortsAreBudgetsOrEffortsByTheFamily) {
  const auto effort = [](std::string_view name, model::ReasoningWish::Effort how) {
    const Sent out = with_effort({.effort = how, .summary = {}}, std::string(name));
    return out.at("thinking") + out.at("output_config");
  };
  using enum model::ReasoningWish::Effort;
  EXPECT_EQ(effort("claude-sonnet-4-5", Medium), R"({"type":"enabled","budget_tokens":8192})");
  EXPECT_EQ(effort("claude-sonnet-4-5", None), "");
  EXPECT_EQ(effort("claude-opus-4-6", XHigh), R"({"type":"adaptive"}{"effort":"high"})");
  EXPECT_EQ(effort("claude-opus-4-7", XHigh), R"({"type":"adaptive"}{"effort":"xhigh"})");
  EXPECT_EQ(effort("claude-opus-4-7", None), R"({"type":"disabled"})");
  EXPECT_EQ(effort("claude-3-5-sonnet", High), "");
  EXPECT_EQ(with_effort({.budget_tokens = 3000, .summary = {}}, "claude-opus-4-6").at("thinking"),
            R"({"type":"enabled","budget_tokens":3000})");
  EXPECT_EQ(
      with_effort({.budget_tokens = 3000, .show = true, .summary = {}}, "claude-opus-4-7").at("thinking"),
      R"({"type":"adaptive","display":"summarized"})");
}

TEST(AnthropicTarget, ThinkingLeavesRoomForTheAnswer) {
  const model::ReasoningWish high{.effort = model::ReasoningWish::Effort::High, .summary = {}};
  const Sent half = with_effort(high, "claude-sonnet-4-5", 10000);
  EXPECT_EQ(half.at("thinking"), R"({"type":"enabled","budget_tokens":5000})");
  EXPECT_EQ(half.lost(), "reasoning_effort: clamped to what the target takes\n");
  const Sent none = with_effort(high, "claude-sonnet-4-5", 1024);
  EXPECT_EQ(none.at("thinking"), "");
  EXPECT_EQ(none.lost(),
            "reasoning_effort: the target refuses it together with something else that was asked for\n");
}

TEST(AnthropicTarget, ThinkingGivesWayToWhatWasSaidMorePlainly) {
  const model::ReasoningWish high{.effort = model::ReasoningWish::Effort::High, .summary = {}};
  model::ChatRequest forced = hello();
  forced.tools = {tool("f")};
  forced.tool_choice = model::ToolChoice{model::ToolChoice::Mode::Required, {}};
  model::ChatRequest loop = foreign(turn(Role::User, text("q")), turn(Role::Assistant, call("c", "f", "{}")),
                                    turn(Role::User, result("c", "r")));
  loop.tools = {tool("f")};
  const model::ChatRequest begun = foreign(turn(Role::User, text("q")), turn(Role::Assistant, text("It")));
  for (const model::ChatRequest& request : {forced, loop, begun}) {
    const Sent out = with_effort(high, "claude-sonnet-4-5", {}, request);
    EXPECT_EQ(out.at("thinking"), "");
    EXPECT_THAT(out.lost(), ::testing::HasSubstr("reasoning_effort: the target refuses it together"));
  }
  loop.turns[1].parts.insert(loop.turns[1].parts.begin(), thought("hm", {Dialect::Anthropic, "c2ln"}));
  EXPECT_NE(with_effort(high, "claude-sonnet-4-5", {}, loop).at("thinking"), "");
}

TEST(AnthropicTarget, ABegunAnswerIsNotSentToModelsThatRefuseIt) {
  const model::ChatRequest begun = foreign(turn(Role::User, text("q")), turn(Role::Assistant, text("It ")));
  EXPECT_THAT(sent(begun, "claude-sonnet-4-5").at("messages"),
              ::testing::EndsWith(R"({"role":"assistant","content":[{"type":"text","text":"It"}]}])"));
  const model::ReasoningWish high{.effort = model::ReasoningWish::Effort::High, .summary = {}};
  for (const char* newer : {"claude-sonnet-4-6", "claude-opus-4-8", "claude-sonnet-5"}) {
    const Sent out = with_effort(high, newer, {}, begun);
    EXPECT_THAT(
        out.at("messages"),
        ::testing::EndsWith(
            R"({"type":"text","text":"It "}]},{"role":"user","content":[{"type":"text","text":"."}]}])"))
        << newer;
    EXPECT_EQ(out.lost(), "messages: the nearest that the target has\n") << newer;
    EXPECT_EQ(out.at("thinking"), R"({"type":"adaptive"})") << "nothing to give way to";
  }
  const auto own = decoded(
      R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"It"}]})");
  EXPECT_THAT(sent(own, "claude-sonnet-4-6").at("messages"), ::testing::HasSubstr(R"("text":"It"}]}])"))
      << "its own client gets its provider's error";
}

TEST(AnthropicTarget, WhatAlwaysThinksIsNotToldToStop) {
  using enum model::ReasoningWish::Effort;
  const Sent none = with_effort({.effort = None, .summary = {}}, "claude-fable-5");
  EXPECT_EQ(none.at("thinking") + none.at("output_config"), R"({"effort":"low"})");
  EXPECT_EQ(none.lost(), "reasoning_effort: the nearest that the target has\n");
  model::ChatRequest forced = hello();
  forced.tools = {tool("f"), tool("g")};
  forced.tool_choice = model::ToolChoice{model::ToolChoice::Mode::Required, {"g"}};
  const Sent five = with_effort({.effort = High, .summary = {}}, "us.anthropic.claude-mythos-5", {}, forced);
  EXPECT_EQ(five.at("thinking") + five.at("output_config"), R"({"effort":"high"})");
  EXPECT_EQ(five.at("tool_choice"), R"({"type":"tool","name":"g"})");
  EXPECT_EQ(five.lost(), "");
  const Sent later = with_effort({.effort = High, .summary = {}}, "claude-fable-5-1", {}, forced);
  EXPECT_EQ(later.at("thinking"), R"({"type":"adaptive"})");
  EXPECT_EQ(later.at("tool_choice"), R"({"type":"auto"})");
  EXPECT_THAT(later.at("tools"), ::testing::Not(::testing::HasSubstr(R"("name":"f")")));
  EXPECT_EQ(later.lost(), "tool_choice: the nearest that the target has\n");
}

TEST(AnthropicTarget, SamplingIsClampedAndGivesWayToThinking) {
  model::ChatRequest request = hello();
  request.sampling.temperature = 1.5;
  request.sampling.top_p = 0.5;
  request.sampling.top_k = 3;
  request.sampling.stop = {" \n", "x"};
  const Sent older = sent(request, "claude-3-7-sonnet");
  EXPECT_EQ(older.at("temperature") + older.at("top_p") + older.at("top_k"), "10.53");
  EXPECT_EQ(older.at("stop_sequences"), R"(["x"])");
  const Sent newer = sent(request, "claude-opus-4-1");
  EXPECT_EQ(newer.at("temperature") + newer.at("top_p"), "1") << "not both";
  const Sent newest = sent(request, "claude-opus-4-7");
  EXPECT_EQ(newest.at("temperature") + newest.at("top_p") + newest.at("top_k"), "");
  request.reasoning = model::ReasoningWish{.effort = model::ReasoningWish::Effort::Low, .summary = {}};
  const Sent thinking = sent(request, "claude-3-7-sonnet");
  EXPECT_EQ(thinking.at("temperature") + thinking.at("top_p") + thinking.at("top_k"), "");
  EXPECT_THAT(thinking.lost(), ::testing::HasSubstr("temperature: the target refuses it together"));
}

// ---- The rest

TEST(AnthropicTarget, StructuredOutput) {
  model::ChatRequest request = hello();
  request.output = model::OutputFormat{.kind = model::OutputFormat::Kind::JsonSchema,
                                       .name = "n",
                                       .description = {},
                                       .schema = R"({"type":"object","properties":{"a":{"type":"string"}}})"};
  EXPECT_EQ(
      sent(request, "claude-sonnet-4-5").at("output_config"),
      R"({"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}})");
  const Sent older = sent(request, "claude-3-7-sonnet");
  EXPECT_EQ(older.at("output_config"), "");
  EXPECT_THAT(older.at("system"), ::testing::HasSubstr("must conform to this JSON Schema"));
  EXPECT_EQ(older.lost(), "response_format: the nearest that the target has\n");
  request.output->schema.clear();
  EXPECT_EQ(sent(request).at("output_config"), "") << "without the schema";
  request.output =
      model::OutputFormat{.kind = model::OutputFormat::Kind::JsonObject, .name = {}, .description = {}};
  const Sent object = sent(request);
  EXPECT_THAT(object.at("system"), ::testing::HasSubstr("Answer with one JSON object"));
  EXPECT_EQ(object.lost(), "response_format: the nearest that the target has\n");
}

TEST(AnthropicTarget, TiersAndUsers) {
  model::ChatRequest request = hello();
  request.user = "u";
  request.service_tier = "default";
  const Sent standard = sent(request);
  EXPECT_EQ(standard.at("metadata"), R"({"user_id":"u"})");
  EXPECT_EQ(standard.at("service_tier"), R"("standard_only")");
  EXPECT_EQ(standard.lost(), "");
  request.service_tier = "flex";
  EXPECT_EQ(sent(request).lost(), "service_tier: the nearest that the target has\n");
}

TEST(AnthropicTarget, WhatItCannotDoIsRefusedOrReported) {
  model::ChatRequest request = hello();
  request.sampling.choices = 2;
  EXPECT_EQ(why_not_sent(request), "n");
  request.sampling.choices.reset();
  request.modalities = {"text", "audio"};
  EXPECT_EQ(why_not_sent(request), "modalities");
  request.modalities.clear();
  request.sampling.seed = 1;
  request.extra.push_back({"verbosity", "\"low\""});
  EXPECT_EQ(sent(request).lost(),
            "verbosity: the target has no such field\nseed: the target has no such field\n");
}

TEST(AnthropicTarget, AnOwnClientDoesNotThinkInTheToolLoopOfAnother) {
  for (const Dialect maker : {Dialect::OpenAiResponses, Dialect::Anthropic}) {
    auto request = foreign(turn(Role::User, text("q")),
                           turn(Role::Assistant, thought("hm", {maker, "STATE"}), call("c1", "f", "{}")),
                           turn(Role::User, result("c1", "r")));
    request.dialect = Dialect::Anthropic;
    request.reasoning.emplace().budget_tokens = 2048;
    request.extra.push_back({"context_management", R"({"edits":[{"type":"clear_thinking_20251015"}]})"});
    const Sent made = sent(request, target_of("claude-sonnet-4-5"));
    const bool own = maker == Dialect::Anthropic;
    EXPECT_EQ(made.at("context_management").empty(), !own) << "it is refused without thinking";
    EXPECT_EQ(made.at("thinking").empty(), !own) << made.body;
    EXPECT_EQ(made.body.find("STATE") == std::string::npos, !own) << made.body;
    EXPECT_EQ(made.losses.empty(), own);
  }
}

TEST(AnthropicTarget, ItsOwnClientsMembersGoOn) {
  const std::string body =
      R"({"model":"m","max_tokens":1,"temperature":1.5,"thinking":{"type":"enabled","budget_tokens":2000},"tool_choice":{"type":"any","disable_parallel_tool_use":false},)"
      R"("output_config":{"effort":"low","task_budget":{"n":1}},"metadata":{"user_id":"u","x":1},"container":"c","context_management":{"edits":[]},)"
      R"("tools":[{"name":"f","input_schema":{},"defer_loading":true},{"type":"bash_20250124","name":"bash"}],)"
      R"("messages":[{"role":"user","content":[{"type":"container_upload","file_id":"f"}],"x":1},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}]}]})";
  const model::ChatRequest request = decoded(body);
  const Sent out = sent(request);
  EXPECT_EQ(out.lost(), "");
  model::ChatRequest again = decoded(out.body);
  model::ChatRequest expected = request;
  expected.model = "claude-sonnet-4-5";
  expected.tools[0].schema = R"({"type":"object"})";
  EXPECT_EQ(qq::testing::describe(again), qq::testing::describe(expected));
}

}  // namespace
}  // namespace qq::dialects::anthropic
