// Embeddings in the words of Google, Cohere and Amazon, counts of tokens in Bedrock's envelope, and
// compaction, over the whole gateway.
#include "simulation/fault_case.h"
#include "wire/json.h"

namespace qq::simulation::embeddings {
namespace {

WorldSetup of_all_kinds() {
  WorldSetup setup;
  setup.providers = 1;
  constexpr std::string_view kRest =
      ", allow_private_address: true, accounts: [{name: main, credential: sk-upstream}]}\n";
  setup.config = "listeners: [{address: \"127.0.0.1:8080\", serve: [api]}]\nproviders:\n";
  for (const std::string_view provider :
       {"  - {name: google, kind: gemini, base_url: \"http://127.0.0.1:9001/v1beta\"",
        "  - {name: cohere, kind: cohere, base_url: \"http://127.0.0.1:9001/v2\"",
        "  - {name: aws, kind: bedrock, region: eu-central-1, base_url: \"http://127.0.0.1:9001\"",
        "  - {name: aws-claude, kind: bedrock_anthropic, region: eu-central-1, base_url: "
        "\"http://127.0.0.1:9001\"",
        "  - {name: other, kind: openai_compatible, base_url: \"http://127.0.0.1:9001/v1\""}) {
    setup.config.append(provider).append(kRest);
  }
  setup.config +=
      "models:\n"
      "  - {name: gemini, provider: google, upstream_name: sim-embedding-2}\n"
      "  - {name: silent, provider: google, upstream_name: sim-embedding-001}\n"
      "  - {name: cohere, provider: cohere, upstream_name: sim-embed}\n"
      "  - {name: titan, provider: aws, upstream_name: \"amazon.titan-embed-text-v2:0\"}\n"
      "  - {name: aws-cohere, provider: aws, upstream_name: \"cohere.embed-v4:0\"}\n"
      "  - {name: claude, provider: aws-claude, upstream_name: \"eu.anthropic.sim-claude-v1:0\"}\n"
      "  - {name: uncounted, provider: aws-claude, upstream_name: "
      "\"eu.anthropic.sim-claude-v1:0+status=400\"}\n"
      "  - {name: plain, provider: other, upstream_name: sim-embedding}\n"
      "routes:\n"
      "  - {name: titan-first, candidates: [{model: titan}], fallback: [{model: cohere}]}\n"
      "  - {name: busy, candidates: [{model: busy-cohere}], fallback: [{model: gemini}]}\n";
  setup.config.insert(setup.config.find("routes:\n"),
                      "  - {name: busy-cohere, provider: cohere, upstream_name: sim-embed+fault=429}\n");
  return setup;
}

Ask embed(std::string_view model, std::string_view input, std::string_view more = {}) {
  Ask ask;
  ask.path = "/v1/embeddings";
  ask.body =
      R"({"model":")" + std::string(model) + R"(","input":)" + std::string(input) + std::string(more) + "}";
  return ask;
}

std::string data_of(const std::string& body) {
  const auto data = wire::JsonValue(body).member("data");
  return data ? std::string(data->text()) : body;
}

TEST(Embeddings, AreTheSameFromEveryProvider) {
  World world(of_all_kinds());
  const Exchange plain = world.ask(embed("plain", R"("a river")", R"(,"dimensions":16)"));
  ASSERT_EQ(plain.reply.status, 200) << plain.reply.body;
  for (const std::string_view model : {"gemini", "cohere", "titan", "aws-cohere"}) {
    SCOPED_TRACE(model);
    const Exchange heard = world.ask(embed(model, R"("a river")", R"(,"dimensions":16)"));
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_EQ(data_of(heard.reply.body), data_of(plain.reply.body));
    EXPECT_EQ(wire::JsonValue(heard.reply.body).member("model")->string(), model);
    const Exchange packed =
        world.ask(embed(model, R"("a river")", R"(,"dimensions":16,"encoding_format":"base64")"));
    const Exchange also =
        world.ask(embed("plain", R"("a river")", R"(,"dimensions":16,"encoding_format":"base64")"));
    EXPECT_EQ(data_of(packed.reply.body), data_of(also.reply.body)) << "bit by bit";
  }
  world.expect_rest();
}

TEST(Embeddings, OfAListKeepItsOrder) {
  World world(of_all_kinds());
  for (const std::string_view model : {"gemini", "cohere", "aws-cohere"}) {
    const Exchange heard = world.ask(embed(model, R"(["one","two","three"])"));
    const Exchange plain = world.ask(embed("plain", R"(["one","two","three"])"));
    EXPECT_EQ(data_of(heard.reply.body), data_of(plain.reply.body)) << model;
  }
}

TEST(Embeddings, TellWhatTheProviderCountedAndNothingElse) {
  World world(of_all_kinds());
  for (const std::string_view model : {"gemini", "cohere", "titan", "aws-cohere"}) {
    const Exchange heard = world.ask(embed(model, R"("a river")"));
    const auto usage = wire::JsonValue(heard.reply.body).member("usage");
    ASSERT_TRUE(usage) << model;
    EXPECT_EQ(usage->member("prompt_tokens")->integer(), 5) << model;
    EXPECT_EQ(usage->member("total_tokens")->integer(), 5) << model;
    ASSERT_TRUE(heard.record);
    EXPECT_EQ(heard.record->usage.input_uncached, 5);
    EXPECT_EQ(heard.record->usage.source, model::UsageSource::Provider);
  }
  const Exchange silent = world.ask(embed("silent", R"("a river")"));
  EXPECT_FALSE(wire::JsonValue(silent.reply.body).member("usage")) << "absent is not zero";
  EXPECT_EQ(silent.record->usage.source, model::UsageSource::None);
}

TEST(Embeddings, GoToATargetThatTakesSoManyOrAreRefusedByName) {
  World world(of_all_kinds());
  const Exchange moved = world.ask(embed("titan-first", R"(["one","two"])"));
  EXPECT_EQ(moved.reply.status, 200) << moved.reply.body;
  EXPECT_EQ(moved.attempts().back().target->model, "cohere");
  const Exchange refused = world.ask(embed("titan", R"(["one","two"])"));
  EXPECT_EQ(refused.reply.status, 400);
  EXPECT_NE(refused.reply.body.find(R"("param":"input")"), std::string::npos) << refused.reply.body;
  EXPECT_EQ(refused.reached(), 0);
  const Exchange tokens = world.ask(embed("cohere", "[1,2,3]"));
  EXPECT_EQ(tokens.reply.status, 400);
  EXPECT_NE(tokens.reply.body.find(R"("param":"input")"), std::string::npos) << tokens.reply.body;
}

TEST(Embeddings, FailOverAndNameWhatIsLost) {
  World world(of_all_kinds());
  const Exchange heard = world.ask(embed("busy", R"("a river")", R"(,"user":"u-1")"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.story(), "rate_limited,success");
  EXPECT_NE(heard.raw.find("x-queqiao-lossy: user\r\n"), std::string::npos) << heard.raw;
}

TEST(Embeddings, OfGooglesClientsAreTheSameAtAllProviders) {
  World world(of_all_kinds());
  Ask ask;
  for (const std::string_view model : {"silent", "plain", "cohere", "titan"}) {
    ask.path = "/v1beta/models/" + std::string(model) + ":batchEmbedContents";
    ask.body = R"({"requests":[{"model":"models/)" + std::string(model) +
               R"(","content":{"parts":[{"text":"a river"}]},"outputDimensionality":4}]})";
    const Exchange batch = world.ask(ask);
    EXPECT_EQ(batch.reply.status, 200) << batch.reply.body;
    EXPECT_TRUE(batch.reply.body.starts_with(R"({"embeddings":[{"values":[)")) << batch.reply.body;
    ask.path = "/v1beta/models/" + std::string(model) + ":embedContent";
    ask.body = R"({"content":{"parts":[{"text":"a river"}]},"outputDimensionality":4})";
    const Exchange single = world.ask(ask);
    EXPECT_TRUE(single.reply.body.starts_with(R"({"embedding":{"values":[)")) << single.reply.body;
  }
  ask.body = "{}";
  const Exchange refused = world.ask(ask);
  EXPECT_EQ(refused.reply.status, 400);
  EXPECT_NE(refused.reply.body.find("INVALID_ARGUMENT"), std::string::npos) << refused.reply.body;
}

Ask count(std::string_view model) {
  Ask ask;
  ask.path = "/v1/messages/count_tokens";
  ask.body = R"({"model":")" + std::string(model) +
             R"(","messages":[{"role":"user","content":"Tell me of rivers."}]})";
  return ask.with_header("anthropic-version", "2023-06-01");
}

TEST(Counts, OfClaudeInBedrockAreItsOwn) {
  World world(of_all_kinds());
  const Exchange heard = world.ask(count("claude"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.raw.find("x-queqiao-estimated"), std::string::npos);
  EXPECT_GT(wire::JsonValue(heard.reply.body).member("input_tokens")->integer().value_or(0), 0);
  EXPECT_EQ(heard.reached(), 1);
}

TEST(Counts, AreEstimatedWhereBedrockDoesNotCount) {
  World world(of_all_kinds());
  const Exchange heard = world.ask(count("uncounted"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.reply.body, R"({"input_tokens":9})");
  EXPECT_NE(heard.raw.find("x-queqiao-estimated: input_tokens\r\n"), std::string::npos);
  EXPECT_EQ(heard.reached(), 1);
}

TEST(Compaction, PassesThroughWhereItIsAndIsRefusedElsewhere) {
  World world(of_all_kinds());
  Ask ask;
  ask.path = "/v1/responses/compact";
  ask.body = R"({"model":"plain","input":"a river"})";
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_NE(heard.reply.body.find("response.compaction"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(heard.record->usage.source, model::UsageSource::Provider);
  ask.body = R"({"model":"gemini","input":"a river"})";
  const Exchange refused = world.ask(ask);
  EXPECT_EQ(refused.reply.status, 400);
  EXPECT_NE(refused.reply.body.find("compact_response"), std::string::npos) << refused.reply.body;
}

}  // namespace
}  // namespace qq::simulation::embeddings
