#include <fakes/asking.h>

#include "dialects/bedrock/dialect.h"

namespace qq::dialects::bedrock {
namespace {

using namespace qq::testing::asking;
using model::Role;
using Kind = model::MediaPart::Kind;
using Mode = model::ToolChoice::Mode;

model::Target target_of(std::string model) {
  model::Target target;
  target.upstream_model = std::move(model);
  return target;
}
Sent asked(const model::ChatRequest& request, std::string model = "us.anthropic.claude-sonnet-4-5-v1:0") {
  return sent(provider_side(), request, target_of(std::move(model)));
}
model::ChatRequest hello() {
  return request(turn(Role::User, text("Hello")));
}

TEST(BedrockRequest, SaysTheConversationInBlocks) {
  const Sent out = asked(request(turn(Role::System, text("Be brief.")), turn(Role::User, text("Hi")),
                                 turn(Role::Assistant, text("Hello.")), turn(Role::User, text("Bye"))));
  EXPECT_EQ(out.body, R"({"system":[{"text":"Be brief."}],"messages":[)"
                      R"({"role":"user","content":[{"text":"Hi"}]},)"
                      R"({"role":"assistant","content":[{"text":"Hello."}]},)"
                      R"({"role":"user","content":[{"text":"Bye"}]}]})");
  EXPECT_EQ(out.losses, "");
}

TEST(BedrockRequest, ANamelessModelIsKnownByOurNameOfIt) {
  model::Target target = target_of("arn:aws:bedrock:eu-west-1:1:application-inference-profile/x");
  target.model = "claude-sonnet-4-5";
  model::ChatRequest wish = hello();
  wish.sampling.top_k = 5;
  EXPECT_EQ(sent(provider_side(), wish, target).at("additionalModelRequestFields"), R"({"top_k":5})");
}

TEST(BedrockRequest, CallsAndResultsAreBlocksAndNeedTheToolsDeclared) {
  const Sent out = asked(request(turn(Role::User, text("Weather?")),
                                 turn(Role::Assistant, call("c 1", "weather", R"({"city":"X"})")),
                                 turn(Role::User, result("c 1", ""))));
  EXPECT_NE(out.body.find(R"("toolUse":{"toolUseId":"c_1_)"), std::string::npos) << out.body;
  EXPECT_NE(out.body.find(R"("name":"weather","input":{"city":"X"})"), std::string::npos);
  EXPECT_NE(out.body.find(R"("content":[{"text":"."}])"), std::string::npos) << "no blank text";
  EXPECT_EQ(out.at("toolConfig", "tools"),
            R"([{"toolSpec":{"name":"weather","inputSchema":{"json":{"type":"object","properties":{}}}}}])");
  EXPECT_EQ(out.at("toolConfig", "toolChoice"), "");
}

TEST(BedrockRequest, LongIdsStayDifferentAndShort) {
  const std::string common(80, 'x');
  const Sent out =
      asked(request(turn(Role::User, text("Go")),
                    turn(Role::Assistant, call(common + "1", "f", "{}"), call(common + "2", "f", "{}")),
                    turn(Role::User, result(common + "2", "two"), result(common + "1", "one"))));
  const wire::JsonValue messages = *wire::JsonValue(out.body).member("messages");
  std::vector<std::string> ids;
  for (wire::JsonElements each(messages); each.next();) {
    for (wire::JsonElements block(*each.value().member("content")); block.next();) {
      for (const auto* kind : {"toolUse", "toolResult"}) {
        if (const auto id = block.value().at(kind, "toolUseId")) ids.push_back(id->string());
      }
    }
  }
  ASSERT_EQ(ids.size(), 4U);
  EXPECT_LE(ids[0].size(), 64U);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(ids[2], ids[1]);
  EXPECT_EQ(ids[3], ids[0]);
}

TEST(BedrockRequest, AFailedResultSaysSo) {
  model::Part failed = result("a", "no");
  failed.as<model::ToolResultPart>()->is_error = true;
  const Sent out = asked(request(turn(Role::User, text("Go")), turn(Role::Assistant, call("a", "f", "")),
                                 turn(Role::User, std::move(failed))));
  EXPECT_NE(out.body.find(R"("content":[{"text":"no"}],"status":"error")"), std::string::npos) << out.body;
}

TEST(BedrockRequest, ToolChoicesAreSaidAsFarAsConverseCan) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f"), tool("g")};
  EXPECT_EQ(asked(wish).at("toolConfig", "toolChoice"), "");
  wish.tool_choice = choice(Mode::Auto);
  EXPECT_EQ(asked(wish).at("toolConfig", "toolChoice"), R"({"auto":{}})");
  wish.tool_choice = choice(Mode::Required);
  EXPECT_EQ(asked(wish).at("toolConfig", "toolChoice"), R"({"any":{}})");
  wish.tool_choice = choice(Mode::Required, {"g"});
  EXPECT_EQ(asked(wish).at("toolConfig", "toolChoice"), R"({"tool":{"name":"g"}})");
  EXPECT_NE(asked(wish).body.find(R"("name":"f")"), std::string::npos) << "for the cache's sake";
  wish.tool_choice = choice(Mode::None);
  EXPECT_EQ(asked(wish).at("toolConfig"), "");
  EXPECT_EQ(asked(wish).losses, "");
  wish.turns = request(turn(Role::User, text("Go")), turn(Role::Assistant, call("a", "f", "{}")),
                       turn(Role::User, result("a", "ok")))
                   .turns;
  EXPECT_EQ(asked(wish).losses, "tool_choice: the nearest that the target has\n");
  EXPECT_NE(asked(wish).at("toolConfig"), "");
}

TEST(BedrockRequest, ASubsetOfToolsIsThoseTools) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f"), tool("g"), tool("h")};
  wish.tool_choice = choice(Mode::Required, {"f", "h"});
  const Sent out = asked(wish);
  EXPECT_EQ(out.body.find(R"("name":"g")"), std::string::npos);
  EXPECT_EQ(out.at("toolConfig", "toolChoice"), R"({"any":{}})");
}

TEST(BedrockRequest, MediaTravelInsideTheRequest) {
  const Sent out = asked(request(turn(
      Role::User, media(Kind::Image, "image/jpg", "AAAA"), media(Kind::Video, "video/mp4", "BBBB"),
      media(Kind::File, "application/pdf", "CCCC", model::MediaPart::Source::Base64, "My_report (1).pdf"),
      media(Kind::File, "", "words", model::MediaPart::Source::Text, "My report (1).txt"),
      media(Kind::Image, "image/png", "s3://bucket/key", model::MediaPart::Source::Url))));
  EXPECT_EQ(out.at("messages"),
            R"([{"role":"user","content":[{"image":{"format":"jpeg","source":{"bytes":"AAAA"}}},)"
            R"({"video":{"format":"mp4","source":{"bytes":"BBBB"}}},)"
            R"x({"document":{"format":"pdf","name":"My report (1)","source":{"bytes":"CCCC"}}},)x"
            R"x({"document":{"format":"txt","name":"My report (1) 2","source":{"bytes":"d29yZHM="}}},)x"
            R"({"image":{"format":"png","source":{"s3Location":{"uri":"s3://bucket/key"}}}},)"
            R"({"text":"."}]}])");
}

TEST(BedrockRequest, WhatConverseCannotReadIsRefusedBeforeItIsSent) {
  using Source = model::MediaPart::Source;
  for (model::Part part :
       {media(Kind::Image, "image/png", "https://x/y.png", Source::Url),
        media(Kind::Image, "image/tiff", "AAAA"), media(Kind::File, "application/zip", "AAAA"),
        media(Kind::File, "", "file-1", Source::FileId), media(Kind::Audio, "audio/wav", "AAAA")}) {
    EXPECT_NE(asked(request(turn(Role::User, std::move(part)))).refused, "");
  }
}

TEST(BedrockRequest, CacheMarksBecomeBlocksBehindWhatIsMarked) {
  model::ChatRequest wish =
      request(turn(Role::System, marked(text("Rules"), {model::CacheMark::Ttl::OneHour})),
              turn(Role::User, marked(text("Hi"))));
  wish.tools = {tool("f")};
  wish.tools[0].cache.emplace();
  const Sent out = asked(wish);
  EXPECT_EQ(out.at("system"), R"([{"text":"Rules"},{"cachePoint":{"type":"default","ttl":"1h"}}])");
  EXPECT_EQ(out.at("messages"),
            R"([{"role":"user","content":[{"text":"Hi"},{"cachePoint":{"type":"default"}}]}])");
  EXPECT_TRUE(out.at("toolConfig", "tools").ends_with(R"({"cachePoint":{"type":"default"}}])"));
  EXPECT_EQ(out.losses, "");
  const Sent nova = asked(wish, "amazon.nova-pro-v1:0");
  EXPECT_TRUE(nova.at("toolConfig", "tools").ends_with("}}}]")) << nova.body;
  EXPECT_EQ(nova.losses, "cache_control: the target has no such field\n");
  EXPECT_EQ(asked(wish, "meta.llama3-8b").body.find("cachePoint"), std::string::npos);
}

TEST(BedrockRequest, AMarkOfTheWholeRequestStandsAtItsEnd) {
  model::ChatRequest wish = hello();
  wish.cache.emplace();
  const std::string marked_once =
      R"([{"role":"user","content":[{"text":"Hello"},{"cachePoint":{"type":"default"}}]}])";
  EXPECT_EQ(asked(wish).at("messages"), marked_once);
  wish.turns[0].parts[0].cache.emplace();
  EXPECT_EQ(asked(wish).at("messages"), marked_once);
}

TEST(BedrockRequest, MarksThatAreNotWrittenTakeNobodysPlace) {
  model::ChatRequest wish =
      request(turn(Role::User, marked(media(Kind::File, "application/pdf", "AAAA")), marked(text("1"))),
              turn(Role::Assistant, marked(thought("hm", {model::Dialect::Bedrock, "s"})), marked(text("2"))),
              turn(Role::User, marked(text("3")), marked(text("4"))));
  wish.cache = model::CacheMark{};
  const Sent out = asked(wish);
  std::size_t marks = 0;
  for (std::size_t at = out.body.find("cachePoint"); at != std::string::npos;
       at = out.body.find("cachePoint", at + 1))
    ++marks;
  EXPECT_EQ(marks, 4U) << out.body;
  EXPECT_EQ(out.body.find(R"({"signature":"s"}}},{"cachePoint")"), std::string::npos);
}

TEST(BedrockRequest, OfTooManyMarksTheLastFourAreWritten) {
  model::ChatRequest wish = request(turn(Role::User, marked(text("1")), marked(text("2")), marked(text("3")),
                                         marked(text("4")), marked(text("5"))));
  const Sent out = asked(wish);
  EXPECT_EQ(out.losses, "cache_control: more of them than the target takes\n");
  EXPECT_NE(out.body.find(R"({"text":"1"},{"text":"2"},{"cachePoint")"), std::string::npos) << out.body;
}

TEST(BedrockRequest, ThoughtsWithOwnSignaturesGoBackAndOthersDoNot) {
  model::Part redacted = thought("", {model::Dialect::Bedrock, "blob"});
  redacted.as<model::ReasoningPart>()->kind = model::ReasoningPart::Kind::Redacted;
  const Sent out =
      asked(request(turn(Role::User, text("Go")),
                    turn(Role::Assistant, thought("mine", {model::Dialect::Bedrock, "sig"}),
                         std::move(redacted), thought("its", {model::Dialect::Gemini, "x"}), text("Yes")),
                    turn(Role::User, text("And?"))));
  EXPECT_NE(out.body.find(R"([{"reasoningContent":{"reasoningText":{"text":"mine","signature":"sig"}}},)"
                          R"({"reasoningContent":{"redactedContent":"blob"}},{"text":"Yes"}])"),
            std::string::npos)
      << out.body;
  EXPECT_EQ(out.losses, "messages: it means something only to the provider that made it\n");
}

TEST(BedrockRequest, EveryFamilyIsToldInItsOwnWordsHowMuchToThink) {
  model::ChatRequest wish = hello();
  wish.reasoning.emplace().effort = model::ReasoningWish::Effort::Medium;
  const auto fields = [&](std::string model) {
    return asked(wish, model).at("additionalModelRequestFields");
  };
  EXPECT_EQ(fields("anthropic.claude-sonnet-4-5"), R"({"thinking":{"type":"enabled","budget_tokens":8192}})");
  EXPECT_EQ(fields("anthropic.claude-opus-4-8"),
            R"({"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}})");
  EXPECT_EQ(fields("amazon.nova-2-lite-v1:0"),
            R"({"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}})");
  EXPECT_EQ(fields("openai.gpt-oss-20b-1:0"), R"({"reasoning_effort":"medium"})");
  EXPECT_EQ(fields("qwen.qwen3-32b-v1:0"), R"({"reasoning_config":"high"})");
  EXPECT_EQ(fields("meta.llama3-8b"), "");
  EXPECT_EQ(asked(wish, "meta.llama3-8b").losses, "reasoning_effort: the target has no such field\n");
  wish.reasoning->effort = model::ReasoningWish::Effort::High;
  wish.sampling.temperature = 0.5;
  EXPECT_EQ(fields("amazon.nova-2-lite-v1:0"),
            R"({"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}})")
      << "Nova refuses its highest effort beside a temperature";
  wish.reasoning->effort = model::ReasoningWish::Effort::None;
  EXPECT_EQ(fields("amazon.nova-2-lite-v1:0"), R"({"reasoningConfig":{"type":"disabled"}})");
}

TEST(BedrockRequest, SamplingStaysInTheRangesOfItsTarget) {
  model::ChatRequest wish = hello();
  wish.sampling.max_output_tokens = 7;
  wish.sampling.temperature = 1.5;
  wish.sampling.top_p = 0.5;
  wish.sampling.top_k = 3;
  wish.sampling.stop = {"END", " "};
  const Sent out = asked(wish, "amazon.nova-pro-v1:0");
  EXPECT_EQ(out.at("inferenceConfig"),
            R"({"maxTokens":7,"temperature":1,"topP":0.5,"stopSequences":["END"]})");
  EXPECT_EQ(out.at("additionalModelRequestFields"), R"({"inferenceConfig":{"topK":3}})");
  EXPECT_EQ(out.losses,
            "temperature: clamped to what the target takes\nstop: clamped to what the target takes\n");
  EXPECT_NE(asked(wish, "meta.llama3-8b").losses.find("top_k: the target has no such field"),
            std::string::npos);
}

TEST(BedrockRequest, SchemasGoWhereTheFamilyTakesThem) {
  model::ChatRequest wish = hello();
  wish.output.emplace();
  wish.output->kind = model::OutputFormat::Kind::JsonSchema;
  wish.output->name = "n";
  wish.output->schema = R"({"type":"object","properties":{"a":{"type":"integer","minimum":1}}})";
  const Sent out = asked(wish);
  EXPECT_EQ(out.at("outputConfig", "textFormat", "structure", "jsonSchema"),
            R"({"schema":"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},)"
            R"(\"additionalProperties\":false}","name":"n"})");
  const Sent older = asked(wish, "meta.llama3-8b");
  EXPECT_EQ(older.at("outputConfig"), "");
  EXPECT_NE(older.at("system").find("JSON Schema"), std::string::npos);
  EXPECT_EQ(older.losses, "response_format: the nearest that the target has\n");
}

TEST(BedrockRequest, WhatOnlyConverseHasGoesOnAsItIs) {
  model::ChatRequest wish = hello();
  wish.extra = {{"guardrailConfig", R"({"guardrailIdentifier":"g","guardrailVersion":"1"})"}, {"other", "1"}};
  wish.service_tier = "flex";
  wish.metadata = R"({"team":"a b","bad":"\u00e9"})";
  const Sent out = asked(wish);
  EXPECT_EQ(out.at("guardrailConfig", "guardrailIdentifier"), R"("g")");
  EXPECT_EQ(out.at("serviceTier"), R"({"type":"flex"})");
  EXPECT_EQ(out.at("requestMetadata"), R"({"team":"a b"})");
  EXPECT_EQ(out.losses, "other: the target has no such field\nmetadata: clamped to what the target takes\n");
}

TEST(BedrockRequest, AnAnswersBeginningEndsWithoutWhiteSpace) {
  const Sent out = asked(request(turn(Role::User, text("Go")), turn(Role::Assistant, text("So \n"))));
  EXPECT_NE(out.body.find(R"({"text":"So"})"), std::string::npos) << out.body;
}

TEST(BedrockRequest, StrictToolsAreSaidWhereConverseTakesThem) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f")};
  wish.tools[0].strict = true;
  for (const char* refuses :
       {"anthropic.claude-opus-4-7", "anthropic.claude-opus-4-8", "anthropic.claude-fable-5-1",
        "anthropic.claude-sonnet-5-v1:0", "anthropic.claude-sonnet-4-20250514-v1:0"}) {
    const Sent out = asked(wish, refuses);
    EXPECT_EQ(out.body.find("strict"), std::string::npos) << refuses;
    EXPECT_EQ(out.losses, "tools[].function.strict: the target has no such field\n") << refuses;
  }
  EXPECT_NE(asked(wish).body.find(R"("strict":true)"), std::string::npos);
}

TEST(BedrockRequest, ABegunAnswerIsNotSentToModelsThatRefuseIt) {
  const auto begun = request(turn(Role::User, text("q")), turn(Role::Assistant, text("It")));
  const Sent out = asked(begun, "anthropic.claude-sonnet-4-6");
  EXPECT_TRUE(out.at("messages").ends_with(R"({"text":"It"}]},{"role":"user","content":[{"text":"."}]}])"))
      << out.body;
  EXPECT_EQ(out.losses, "messages: the nearest that the target has\n");
  EXPECT_TRUE(asked(begun).at("messages").ends_with(R"({"role":"assistant","content":[{"text":"It"}]}])"));
}

TEST(BedrockRequest, ModelsThatTakeNoForcedToolAreLeftTheChoice) {
  model::ChatRequest wish = hello();
  wish.tools = {tool("f"), tool("g")};
  wish.tool_choice = choice(Mode::Required, {"g"});
  const Sent out = asked(wish, "anthropic.claude-fable-5-1");
  EXPECT_EQ(out.at("toolConfig", "toolChoice"), R"({"auto":{}})");
  EXPECT_EQ(out.body.find(R"("name":"f")"), std::string::npos);
  EXPECT_EQ(out.losses, "tool_choice: the nearest that the target has\n");
}

}  // namespace
}  // namespace qq::dialects::bedrock
