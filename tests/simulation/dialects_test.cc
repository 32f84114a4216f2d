// Clients of one dialect and providers of another, over the whole gateway.
#include <fmt/format.h>

#include "simulation/fault_case.h"
#include "wire/json.h"

namespace qq::simulation::dialects {
namespace {

Ask messages(std::string_view model) {
  Ask ask;
  ask.path = "/v1/messages";
  ask.body = R"({"model":")" + std::string(model) +
             R"(","max_tokens":500,"messages":[{"role":"user","content":"Tell me of rivers."}]})";
  return ask;
}

Ask generate(std::string_view model, std::string_view method = "generateContent") {
  Ask ask;
  ask.path = "/v1beta/models/" + std::string(model) + ":" + std::string(method);
  ask.body = R"({"contents":[{"role":"user","parts":[{"text":"Tell me of rivers."}]}]})";
  return ask;
}

TEST(Translated, AnAnthropicClientHearsAnOpenAiProvider) {
  World world;
  const Exchange heard = world.ask(messages("alone"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  const wire::JsonValue answer(heard.reply.body);
  EXPECT_EQ(answer.member("type")->string(), "message");
  EXPECT_EQ(answer.member("model")->string(), "alone") << "the name that was asked for";
  EXPECT_EQ(answer.member("stop_reason")->string(), "end_turn");
  EXPECT_GT(answer.member("usage")->member("output_tokens")->integer().value_or(0), 0);
  EXPECT_NE(heard.raw.find("\r\nrequest-id: "), std::string::npos);
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.source, model::UsageSource::Provider);
  EXPECT_EQ(heard.story(), "success");
  world.expect_rest();
}

TEST(Translated, AnAnthropicClientHearsAStreamToItsEnd) {
  World world;
  const Exchange heard = world.ask(messages("alone").streamed());
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  const std::string& body = heard.reply.body;
  EXPECT_TRUE(body.starts_with("event: message_start\ndata: {")) << body;
  EXPECT_TRUE(body.find("event: content_block_delta\n") != std::string::npos) << body;
  EXPECT_TRUE(body.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")) << body;
  EXPECT_TRUE(heard.reply.complete);
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.source, model::UsageSource::Provider);
  EXPECT_GT(heard.record->usage.output_total(), 0);
  world.expect_rest();
}

TEST(Translated, AGeminiClientHearsWholeAnswersAndBothKindsOfStreams) {
  World world;
  const Exchange whole = world.ask(generate("alone"));
  EXPECT_EQ(whole.reply.status, 200) << whole.reply.body;
  EXPECT_TRUE(wire::JsonValue(whole.reply.body).member("candidates"));
  const Exchange events = world.ask(generate("alone", "streamGenerateContent?alt=sse"));
  EXPECT_TRUE(events.reply.body.starts_with("data: {")) << events.reply.body;
  EXPECT_NE(events.raw.find("text/event-stream"), std::string::npos);
  const Exchange array = world.ask(generate("alone", "streamGenerateContent"));
  EXPECT_FALSE(wire::check_json(array.reply.body)) << array.reply.body;
  EXPECT_TRUE(array.reply.body.starts_with("["));
  EXPECT_NE(array.raw.find("content-type: application/json"), std::string::npos);
  world.expect_rest();
}

TEST(Translated, FailuresFallBackBeforeContent) {
  World world;
  world.provider(0).misbehave("fault=503");
  for (const Ask& ask : {messages("backed"), messages("backed").streamed(), generate("backed")}) {
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_EQ(heard.story(), "overloaded,success");
  }
  world.expect_rest();
}

TEST(Translated, AStreamThatBreaksEndsWithTheClientsOwnError) {
  World world;
  world.provider(0).misbehave("fault=reset_mid_body; at=5; gap=20");
  const Exchange heard = world.ask(messages("alone").streamed());
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_NE(heard.reply.body.find("event: error\ndata: {\"type\":\"error\",\"error\":{"), std::string::npos)
      << heard.reply.body;
  EXPECT_EQ(heard.reply.body.find("message_stop"), std::string::npos);
  ASSERT_TRUE(heard.record);
  EXPECT_TRUE(heard.record->interrupted);
}

TEST(Translated, ErrorsAreToldInTheClientsDialect) {
  World world;
  const Exchange unknown = world.ask(messages("nobody"));
  EXPECT_EQ(unknown.reply.status, 404);
  EXPECT_TRUE(unknown.reply.body.starts_with("{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\""))
      << unknown.reply.body;
  const Exchange gemini = world.ask(generate("nobody"));
  EXPECT_EQ(gemini.reply.status, 404);
  EXPECT_NE(gemini.reply.body.find("\"status\":\"NOT_FOUND\""), std::string::npos) << gemini.reply.body;
  Ask keyless = messages("alone");
  keyless.header_lines.clear();
  const Exchange refused = world.ask(keyless);
  EXPECT_EQ(refused.reply.status, 401);
  EXPECT_NE(refused.reply.body.find("authentication_error"), std::string::npos) << refused.reply.body;
  Ask bad = messages("alone");
  bad.body = R"({"model":"alone","max_tokens":5,"messages":[{"role":"user","content":7}]})";
  const Exchange invalid = world.ask(bad);
  EXPECT_EQ(invalid.reply.status, 400);
  EXPECT_NE(invalid.reply.body.find("invalid_request_error"), std::string::npos) << invalid.reply.body;
  EXPECT_NE(invalid.reply.body.find("messages.0.content"), std::string::npos) << invalid.reply.body;
  EXPECT_EQ(world.provider(0).seen().requests().size(), 0U) << "bad input costs nothing upstream";
}

TEST(Translated, KeysComeInEveryDialectsHeader) {
  World world;
  for (const std::string_view line :
       {"x-api-key: sk-of-the-tests\r\n", "x-goog-api-key: sk-of-the-tests\r\n"}) {
    Ask ask = generate("alone");
    ask.header_lines = line;
    EXPECT_EQ(world.ask(ask).reply.status, 200) << line;
  }
  Ask in_query = generate("alone", "generateContent?key=sk-of-the-tests");
  in_query.header_lines.clear();
  EXPECT_EQ(world.ask(in_query).reply.status, 200);
  Ask twice = generate("alone", "generateContent?key=sk-of-the-tests&alt=sse&key=another");
  twice.header_lines.clear();
  EXPECT_EQ(world.ask(twice).reply.status, 400) << "which one is meant must not depend on the reader";
  Ask not_there = chat("alone");
  not_there.path += "?key=sk-of-the-tests";
  not_there.header_lines.clear();
  EXPECT_EQ(world.ask(not_there).reply.status, 401) << "only Gemini's clients do so";
}

// Behind `backed` stand two that speak Anthropic's dialect, which has one answer to a request.
WorldSetup of_one_answer() {
  WorldSetup setup;
  setup.providers = 2;
  const auto provider = [](int n) {
    return fmt::format(
        "  - {{name: p{0}, kind: anthropic_compatible, base_url: \"http://127.0.0.1:{1}\", "
        "allow_private_address: true, accounts: [{{name: main, credential: sk-upstream}}]}}\n",
        n, 9001 + n);
  };
  setup.config = "listeners: [{address: \"127.0.0.1:8080\", serve: [api]}]\nproviders:\n" + provider(0) +
                 provider(1) +
                 "models:\n  - {name: m0, provider: p0, upstream_name: sim-claude}\n"
                 "  - {name: m1, provider: p1, upstream_name: sim-claude}\n"
                 "routes: [{name: alone, candidates: [{model: m0}]}, "
                 "{name: backed, candidates: [{model: m0}], fallback: [{model: m1}]}]\n";
  return setup;
}
Ask two_answers(std::string_view model) {
  Ask ask = chat(model);
  ask.body.insert(1, R"("n":2,)");
  return ask;
}

TEST(Translated, WhatATargetCannotDoIsRefusedBeforeAnythingIsSent) {
  World world(of_one_answer());
  const Exchange heard = world.ask(two_answers("alone"));
  EXPECT_EQ(heard.reply.status, 400) << heard.reply.body;
  EXPECT_NE(heard.reply.body.find(R"("param":"n")"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(world.provider(0).seen().requests().size(), 0U);
  EXPECT_EQ(heard.story(), "refused");
  world.expect_rest();
}

TEST(Translated, EachTargetRefusesWhatItCannotDoOnce) {
  World world(of_one_answer());
  const Exchange heard = world.ask(two_answers("backed").streamed());
  EXPECT_EQ(heard.reply.status, 400) << heard.reply.body;
  EXPECT_EQ(heard.story(), "refused,refused");
  world.expect_rest();
}

// The last candidate is tried whatever its breaker says, unless it is known that it cannot do it.
TEST(Translated, ARefusalBesideAnOpenBreakerIsTheLastWord) {
  World world(of_one_answer());
  world.provider(0).misbehave("fault=503");
  for (int i = 0; i < 8; ++i) world.ask(chat("alone"));
  const Exchange heard = world.ask(two_answers("backed"));
  EXPECT_EQ(heard.reply.status, 400) << heard.reply.body;
  EXPECT_EQ(heard.story(), "refused,refused,refused");
  world.expect_rest();
}

TEST(Translated, OnlyTheWebIsForCallersToName) {
  World world;
  for (const std::string url : {"s3://bucket/key", "gs://bucket/key", "file:///etc/passwd", "picture.png"}) {
    Ask ask = messages("alone");
    ask.body = R"({"model":"alone","max_tokens":50,"messages":[{"role":"user","content":[)"
               R"({"type":"image","source":{"type":"url","url":")" +
               url + R"("}}]}]})";
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 400) << url << heard.reply.body;
    EXPECT_NE(heard.reply.body.find("messages[].content"), std::string::npos) << heard.reply.body;
    EXPECT_EQ(world.provider(0).seen().requests().size(), 0U) << url;
  }
  world.expect_rest();
}

TEST(Translated, LossesAreNamed) {
  World world;
  Ask ask = messages("alone");
  ask.body = R"({"model":"alone","max_tokens":50,"top_k":4,)"
             R"("messages":[{"role":"user","content":"Tell me of rivers."}]})";
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_NE(heard.raw.find("x-queqiao-lossy: top_k\r\n"), std::string::npos) << heard.raw;
}

TEST(Translated, LossesStandInTheRecordOfTheAttemptThatHadThem) {
  World world;
  world.provider(0).misbehave("fault=503");
  Ask ask = messages("backed");
  ask.body = R"({"model":"backed","max_tokens":50,"top_k":4,)"
             R"("messages":[{"role":"user","content":"Tell me of rivers."}]})";
  for (const Ask& each : {ask, ask.streamed()}) {
    const Exchange heard = world.ask(each);
    ASSERT_EQ(heard.story(), "overloaded,success");
    EXPECT_EQ(heard.attempts()[0].lost, "top_k");
    EXPECT_EQ(heard.attempts()[1].lost, "top_k");
  }
  const Exchange native = world.ask(chat("spare"));
  EXPECT_EQ(native.attempts()[0].lost, "");
}

TEST(Counts, AreEstimatedWhereNobodyCounts) {
  World world;
  Ask anthropic = messages("alone");
  anthropic.path = "/v1/messages/count_tokens";
  anthropic.body = R"({"model":"alone","messages":[{"role":"user","content":"Tell me of rivers."}]})";
  const Exchange heard = world.ask(anthropic);
  EXPECT_EQ(heard.reply.body, R"({"input_tokens":9})") << "18 letters are 5 tokens, a turn is 4";
  EXPECT_NE(heard.raw.find("x-queqiao-estimated: input_tokens\r\n"), std::string::npos);
  const Exchange gemini = world.ask(generate("alone", "countTokens"));
  EXPECT_TRUE(gemini.reply.body.starts_with(R"({"totalTokens":9)")) << gemini.reply.body;
  anthropic.body = R"({"model":"alone","messages":7})";
  EXPECT_EQ(world.ask(anthropic).reply.status, 400);
  EXPECT_EQ(world.provider(0).seen().requests().size(), 0U);
}

TEST(Models, AreListedInTheShapeOfWhoAsks) {
  World world;
  const auto list = [&](std::string_view path, std::string_view more) {
    return world
        .say("GET " + std::string(path) + " HTTP/1.1\r\nhost: x\r\n" + std::string(kKeyLine) +
             std::string(more) + "\r\n")
        .reply.body;
  };
  EXPECT_TRUE(list("/v1/models", "").starts_with("{\"object\":\"list\",\"data\":[{\"id\":"));
  EXPECT_TRUE(list("/v1/models", "anthropic-version: 2023-06-01\r\n")
                  .starts_with("{\"data\":[{\"type\":\"model\",\"id\":"));
  EXPECT_TRUE(list("/v1/models", "x-goog-api-key: sk-of-the-tests\r\n").starts_with("{\"models\":["))
      << "Google's SDK asks there";
  EXPECT_TRUE(list("/v1beta/models", "").starts_with("{\"models\":[{\"name\":\"models/"));
  EXPECT_TRUE(list("/v1beta/models/alone", "").starts_with("{\"name\":\"models/alone\""));
}

// Routes of models that differ: what fits into all, what all can.
TEST(Models, AreListedWithWhatAllTheirTargetsHave) {
  WorldSetup setup;
  setup.providers = 0;
  setup.config =
      "listeners: [{address: \"127.0.0.1:8080\"}]\n"
      "providers: [{name: p, kind: openai_compatible, base_url: \"http://127.0.0.1:9001/v1\", "
      "allow_private_address: true, accounts: [{name: main, credential: none}]}]\n"
      "models:\n"
      "  - {name: large, provider: p, context: 200k, can: [tools, vision, reasoning]}\n"
      "  - {name: small, provider: p, context: 32k, can: [reasoning, json_schema, tools]}\n"
      "  - {name: unsaid, provider: p}\n"
      "routes:\n"
      "  - {name: either, candidates: [{model: large}], fallback: [{model: small}]}\n"
      "  - {name: any, candidates: [{model: large}, {model: unsaid}]}\n";
  World world(std::move(setup));
  const auto told = [&](std::string_view path, std::string_view more = {}) {
    std::string body = world
                           .say("GET " + std::string(path) + " HTTP/1.1\r\nhost: x\r\n" +
                                std::string(kKeyLine) + std::string(more) + "\r\n")
                           .reply.body;
    EXPECT_FALSE(wire::check_json(body)) << body;
    return body;
  };
  const auto holds = [](const std::string& body, std::string_view what) {
    return body.find(what) != std::string::npos;
  };
  constexpr std::string_view kVersion = "anthropic-version: 2023-06-01\r\n";
  const std::string large = told("/v1/models/large");
  EXPECT_TRUE(holds(large, R"("context_length":200000,"max_model_len":200000,)"
                           R"("capabilities":["tools","vision","reasoning"],"architecture":)"
                           R"({"input_modalities":["text","image"],"output_modalities":["text"]})"))
      << large;
  const std::string either = told("/v1/models/either");
  EXPECT_TRUE(
      holds(either, R"("context_length":32000,"max_model_len":32000,"capabilities":["tools","reasoning"],)"))
      << either;
  for (const std::string_view name : {"any", "unsaid"}) {
    const std::string path = "/v1/models/" + std::string(name);
    const std::string silent = told(path);
    EXPECT_TRUE(silent.ends_with(R"("owned_by":"queqiao"})")) << silent;
    const std::string anthropic = told(path, kVersion);
    EXPECT_TRUE(anthropic.ends_with(R"("max_input_tokens":null,"max_tokens":null,"capabilities":null})"))
        << anthropic;
  }
  const std::string claude = told("/v1/models/large", kVersion);
  const wire::JsonValue document(claude);
  EXPECT_EQ(document.member("max_input_tokens")->integer(), 200'000);
  const auto is = [&](auto... path) {
    const auto supported =
        document.at("capabilities", std::string_view(path)..., std::string_view("supported"));
    return supported && supported->is_true();
  };
  EXPECT_TRUE(is("image_input"));
  EXPECT_TRUE(is("thinking"));
  EXPECT_TRUE(is("thinking", "types", "enabled"));
  EXPECT_TRUE(is("effort", "high"));
  EXPECT_FALSE(is("pdf_input"));
  EXPECT_FALSE(is("structured_outputs"));
  EXPECT_FALSE(is("server_tools", "web_search"));
  const std::string gemini = told("/v1beta/models");
  EXPECT_TRUE(holds(
      gemini, R"("name":"models/either","displayName":"either","inputTokenLimit":32000,"thinking":true,)"))
      << gemini;
  EXPECT_TRUE(holds(gemini, R"("name":"models/unsaid","displayName":"unsaid","supportedGenerationMethods":)"))
      << gemini;
}

}  // namespace
}  // namespace qq::simulation::dialects
