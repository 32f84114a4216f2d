#include "config/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "config/test_environment.h"

namespace qq::config {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr std::string_view kMinimal = R"(
listeners:
  - address: "127.0.0.1:8080"
providers:
  - {name: local, kind: openai_compatible, base_url: "http://127.0.0.1:8000/v1", accounts: [{name: a, credential: none}]}
models:
  - {name: small, provider: local}
)";

Config loaded(std::string_view text) {
  auto result = load_text("f.yaml", text, test_environment());
  if (!result) {
    for (const Diagnostic& d : result.error()) ADD_FAILURE() << to_text(d);
    return {};
  }
  return *std::move(result);
}

Config with(std::string_view more) {
  return loaded(std::string(kMinimal) + std::string(more));
}

TEST(Load, AMinimalFileTakesTheDefaultsForEverythingElse) {
  const Config config = loaded(kMinimal);
  const Config defaults;
  EXPECT_EQ(config.workers, 0);
  EXPECT_EQ(config.timers.connect, defaults.timers.connect);
  EXPECT_EQ(config.limits.body_max, defaults.limits.body_max);
  EXPECT_EQ(config.outbound_proxy.host, "");
  ASSERT_EQ(config.listeners.size(), 1U);
  EXPECT_TRUE(config.listeners[0].serve_api);
  EXPECT_FALSE(config.listeners[0].serve_admin);
  EXPECT_FALSE(config.listeners[0].tls.has_value());
  EXPECT_TRUE(config.routes.empty());
  EXPECT_TRUE(config.keys.empty());
}

TEST(Load, AModelIsCalledByItsOwnNameUpstreamUnlessToldOtherwise) {
  EXPECT_EQ(loaded(kMinimal).models[0].upstream_name, "small");
}

TEST(Load, ReadsEveryTimer) {
  const Config config = with(
      "timers: {connect: 1s, tls: 2s, send_progress: 3s, first_byte: 4s, first_content: 5s, event_gap: 6s, "
      "total: 7s,"
      " client_write_stall: 8s, client_head: 9s, client_body_grace: 10s, client_idle: 11s, heartbeat: 12s, "
      "drain: 13s, first_byte_reasoning: 14s, first_content_reasoning: 15s, drain_announce: 16s}");
  const relay::Timers& t = config.timers;
  EXPECT_THAT((std::vector<Milliseconds>{
                  t.connect, t.tls, t.send_progress, t.first_byte, t.first_content, t.event_gap, t.total,
                  t.client_write_stall, t.client_head, t.client_body_grace, t.client_idle, t.heartbeat,
                  t.drain, t.first_byte_reasoning, t.first_content_reasoning, t.drain_announce}),
              ElementsAre(1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 10s, 11s, 12s, 13s, 14s, 15s, 16s));
}

TEST(Load, ReadsEveryLimit) {
  const Config config = with(
      "limits: {body_max: 1MiB, bodies_in_flight_max: 2MiB, head_max: 3KiB, json_nodes_max: 4000, "
      "held_answer_max: 5KiB,"
      " event_max: 6KiB, memory_max: 1GiB, connections_max: 8}");
  const relay::Limits& l = config.limits;
  EXPECT_THAT((std::vector<std::size_t>{l.body_max, l.bodies_in_flight_max, l.head_max, l.json_nodes_max,
                                        l.held_answer_max, l.event_max, l.memory_max, l.connections_max}),
              ElementsAre(1U << 20U, 2U << 20U, 3U << 10U, 4000U, 5U << 10U, 6U << 10U, 1U << 30U, 8U));
}

TEST(Load, ZeroStandsForAutomaticLimits) {
  const Config config = with("limits: {memory_max: 0, connections_max: 0}\nworkers: 0\n");
  EXPECT_EQ(config.limits.memory_max, 0U);
  EXPECT_EQ(config.limits.connections_max, 0U);
}

TEST(Load, AnswersAreKeptInMemoryUnlessAFileIsGiven) {
  EXPECT_EQ(with("").responses.chosen(), relay::ResponseBackend::Memory);
  const Config config = with(
      "storage: {responses: {path: /var/lib/answers.db, ttl: 48h, entry_max: 1MiB, owner_max: 2MiB, "
      "owner_entries_max: 3, total_max: 4MiB}}");
  EXPECT_EQ(config.responses.chosen(), relay::ResponseBackend::Sqlite);
  EXPECT_EQ(config.responses.path, "/var/lib/answers.db");
  const relay::ResponseLimits limits = config.responses.limits();
  EXPECT_EQ(limits.ttl, 48h);
  EXPECT_EQ(limits.entry_bytes_max, 1U << 20U);
  EXPECT_EQ(limits.owner_bytes_max, 2U << 20U);
  EXPECT_EQ(limits.owner_entries_max, 3U);
  EXPECT_EQ(limits.total_bytes_max, 4U << 20U);
  EXPECT_EQ(with("storage: {responses: {backend: none}}").responses.chosen(), relay::ResponseBackend::None);
}

TEST(Load, WhoHoldsWhatIsInMemoryUnlessAFileIsGiven) {
  EXPECT_EQ(with("").holdings.chosen(), relay::HoldingBackend::Memory);
  const Config config =
      with("storage: {objects: {path: /var/lib/objects.db, ttl: 48h, owner_entries_max: 3}}");
  EXPECT_EQ(config.holdings.chosen(), relay::HoldingBackend::Sqlite);
  EXPECT_EQ(config.holdings.path, "/var/lib/objects.db");
  EXPECT_EQ(config.holdings.limits().ttl, 48h);
  EXPECT_EQ(config.holdings.limits().owner_entries_max, 3U);
  EXPECT_EQ(with("storage: {objects: {backend: none}}").holdings.chosen(), relay::HoldingBackend::None);
}

TEST(Load, LimitsOfKeptAnswersThatAreNotGivenFollowTheOthers) {
  const auto limits = [](std::string_view text) {
    return with("storage: {responses: {" + std::string(text) + "}}").responses.limits();
  };
  EXPECT_EQ(limits("ttl: 1h").total_bytes_max, 256U << 20U);
  EXPECT_EQ(limits("ttl: 1h").owner_bytes_max, 64U << 20U);
  EXPECT_EQ(limits("path: a.db").total_bytes_max, std::size_t{16} << 30U);
  EXPECT_EQ(limits("total_max: 1GiB").owner_bytes_max, 256U << 20U);
  EXPECT_EQ(limits("entry_max: 256MiB").owner_bytes_max, 512U << 20U);
  EXPECT_EQ(limits("entry_max: 256MiB").total_bytes_max, 512U << 20U);
}

TEST(Load, ReadsListeners) {
  const Config config = loaded(R"(
listeners:
  - {address: "0.0.0.0:8080", serve: [api, metrics], tls: {certificate: /etc/c.pem, key: /etc/k.pem}}
  - {address: "[::1]:0", serve: [admin]}
  - {address: ":0"}
providers: [{name: p, kind: openai, accounts: [{name: a, credential: none}]}]
models: [{name: m, provider: p}]
)");
  ASSERT_EQ(config.listeners.size(), 3U);
  EXPECT_TRUE(config.listeners[0].serve_api && config.listeners[0].serve_metrics &&
              !config.listeners[0].serve_admin);
  EXPECT_EQ(config.listeners[0].tls->certificate, "/etc/c.pem");
  EXPECT_EQ(config.listeners[0].tls->key, "/etc/k.pem");
  EXPECT_TRUE(config.listeners[1].serve_admin && !config.listeners[1].serve_api);
}

TEST(Load, ReadsWhatTheCloudsProvidersNeed) {
  const Config config = loaded(R"(
listeners: [{address: "127.0.0.1:0"}]
providers:
  - {name: google, kind: vertex, project: my-project-123, location: global, accounts: [{name: main, credential: none}]}
  - name: aws
    kind: bedrock
    region: eu-central-1
    accounts: [{name: main, credential: "AKIACANARY:${OPENAI_API_KEY}:${EMPTY:-}"}]
models:
  - {name: g, provider: google}
  - {name: a, provider: aws}
)");
  EXPECT_EQ(config.providers.at(0).project, "my-project-123");
  EXPECT_EQ(config.providers.at(0).location, "global");
  EXPECT_EQ(config.providers.at(1).region, "eu-central-1");
  EXPECT_EQ(config.providers.at(1).accounts[0].credential.reveal(), "AKIACANARY:sk-canary-4f9a8b7c6d5e:");
}

TEST(Load, TakesAWholeJsonDocumentForACredential) {
  auto environment = test_environment({{"ACCOUNT", "{\n  \"type\": \"canary\"\n}"}});
  const auto result = load_text("f.yaml", R"(
listeners: [{address: "127.0.0.1:0"}]
providers:
  - {name: google, kind: vertex, project: p, location: global, accounts: [{name: main, credential: "${ACCOUNT}"}]}
models: [{name: g, provider: google}]
)",
                                environment);
  ASSERT_FALSE(result);
  EXPECT_THAT(to_text(result.error().front()),
              ::testing::HasSubstr("has another `type` than service_account, the only one that is taken"));
}

TEST(Load, ReadsProvidersAccountsAndLimitGroups) {
  const Config config = loaded(R"(
listeners: [{address: "127.0.0.1:0"}]
providers:
  - name: azure
    kind: azure_openai
    base_url: https://me.openai.azure.com
    api_version: 2024-10-21
    allow_private_address: true
    accounts:
      - {name: main, credential: "${OPENAI_API_KEY}", limit_group: org}
      - {name: spare, credential: "${file:/run/secrets/key}"}
      - {name: open, credential: none}
    limit_groups: [{name: org, rpm: 120, tpm: 150000, concurrency: 8}]
models: [{name: m, provider: azure, upstream_name: my-deployment, context: 128k, can: [tools, vision], hidden: true}]
)");
  const providers::ProviderConfig& provider = config.providers.at(0);
  EXPECT_EQ(provider.api_version, "2024-10-21");
  EXPECT_TRUE(provider.allow_private_address);
  EXPECT_EQ(provider.accounts[0].credential.reveal(), "sk-canary-4f9a8b7c6d5e");
  EXPECT_EQ(provider.accounts[0].limit_group, "org");
  EXPECT_EQ(provider.accounts[1].credential.reveal(), "canary-from-file");
  EXPECT_TRUE(provider.accounts[2].credential.empty());
  EXPECT_EQ(provider.limit_groups[0].rpm, 120);
  EXPECT_EQ(provider.limit_groups[0].tpm, 150'000);
  EXPECT_EQ(provider.limit_groups[0].concurrency, 8);
  EXPECT_EQ(config.models[0].upstream_name, "my-deployment");
  EXPECT_EQ(config.models[0].context_tokens, 128'000);
  EXPECT_THAT(config.models[0].can, ElementsAre("tools", "vision"));
  EXPECT_TRUE(config.models[0].hidden);
}

TEST(Load, ReadsRoutes) {
  const Config config = with(R"(
routes:
  - name: chat-fast
    match: {task_type: chat, max_latency: 800ms}
    candidates: [{model: small, weight: 0.25}]
    fallback: [{model: small}]
    trigger_on: [429, empty]
    retry: {max_attempts: 5, backoff: {base: 100ms, max: 1s}}
)");
  const routing::RouteConfig& route = config.routes.at(0);
  EXPECT_EQ(route.task_type, "chat");
  EXPECT_EQ(route.max_latency, 800ms);
  EXPECT_EQ(route.candidates[0].weight, 0.25);
  EXPECT_EQ(route.fallback[0].model, "small");
  EXPECT_EQ(route.picker, routing::PickerKind::Weighted);
  EXPECT_TRUE(route.triggers.rate_limit && route.triggers.empty);
  EXPECT_FALSE(route.triggers.timeout || route.triggers.server_error || route.triggers.not_found ||
               route.triggers.refused);
  EXPECT_EQ(route.retry.max_attempts, 5);
  EXPECT_EQ(route.retry.backoff_base, 100ms);
  EXPECT_EQ(route.retry.backoff_max, 1s);
}

TEST(Load, ARouteWithoutWeightsTakesItsCandidatesInOrder) {
  const Config config = with("routes: [{name: r, candidates: [{model: small}]}]");
  EXPECT_EQ(config.routes[0].picker, routing::PickerKind::Order);
  EXPECT_EQ(config.routes[0].candidates[0].weight, 1.0);
}

TEST(Load, TheWeightedPickerNeedsNoWeights) {
  EXPECT_EQ(with("routes: [{name: r, picker: weighted, candidates: [{model: small}]}]").routes[0].picker,
            routing::PickerKind::Weighted);
}

TEST(Load, AnEmptyTriggerListMeansThatNothingTriggers) {
  const model::Triggers triggers =
      with("routes: [{name: r, trigger_on: [], candidates: [{model: small}]}]").routes[0].triggers;
  EXPECT_FALSE(triggers.timeout || triggers.server_error || triggers.rate_limit || triggers.empty);
}

TEST(Load, ReadsKeys) {
  const std::string hash = "hmac-sha256:" + std::string(64, 'a');
  const std::string other = "hmac-sha256:" + std::string(64, 'b');
  const Config config = with("key_pepper: \"${PEPPER}\"\nkeys:\n  - {name: demo, hash: \"" + hash +
                             "\", owner: \"Zhang San 张三\", allow: [small]}\n  - {name: plain, hash: \"" +
                             other + "\", enabled: false}\n");
  EXPECT_EQ(config.key_pepper.reveal(), "canary-pepper-0123456789abcdef");
  EXPECT_EQ(config.keys[0].owner, "Zhang San 张三");
  EXPECT_THAT(config.keys[0].allow, ElementsAre("small"));
  EXPECT_TRUE(config.keys[0].enabled);
  EXPECT_EQ(config.keys[1].owner, "plain") << "an owner defaults to the key's name";
  EXPECT_TRUE(config.keys[1].allow.empty());
  EXPECT_FALSE(config.keys[1].enabled);
}

TEST(Load, ReadsTheOutboundSettings) {
  const Config config = with("outbound: {proxy: \"http://me:pw@proxy:3128\", ca_file: /etc/ca.pem}");
  EXPECT_EQ(config.outbound_proxy.host, "proxy");
  EXPECT_EQ(config.outbound_proxy.port, 3128);
  EXPECT_EQ(config.outbound_proxy.authorization, "Basic bWU6cHc=");
  EXPECT_EQ(config.outbound_ca_file, "/etc/ca.pem");
}

TEST(Load, VariablesMayStandForNumbersDurationsAndWords) {
  const Config config = with(
      "workers: ${NUMBER}\ntimers: {connect: \"${NUMBER}s\", tls: \"${NONE:-7s}\"}\n"
      "limits: {json_nodes_max: \"${BIG}\"}\n");
  EXPECT_EQ(config.workers, 4);
  EXPECT_EQ(config.timers.connect, 4s);
  EXPECT_EQ(config.timers.tls, 7s);
  EXPECT_EQ(config.limits.json_nodes_max, 1'000'000U);
}

TEST(Load, AValueCannotChangeTheStructureOfTheFile) {
  const auto result = load_text("f", std::string(kMinimal) + "workers: \"${EVIL}\"\n",
                                test_environment({{"EVIL", "1\ntimers: {connect: 1s}"}}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().size(), 1U);
}

TEST(Load, ARouteMayHaveTheNameOfAHiddenModel) {
  const Config config = loaded(R"(
listeners: [{address: "127.0.0.1:0"}]
providers: [{name: p, kind: openai, accounts: [{name: a, credential: none}]}]
models: [{name: m, provider: p, hidden: true}]
routes: [{name: m, candidates: [{model: m}]}]
)");
  EXPECT_EQ(config.routes.size(), 1U);
}

TEST(Load, BlockTextAndQuotesWork) {
  const Config config = with("outbound:\n  ca_file: >-\n    /etc/ca.pem\n");
  EXPECT_EQ(config.outbound_ca_file, "/etc/ca.pem");
  EXPECT_EQ(with("outbound: {'ca_file': '/a b'}").outbound_ca_file, "/a b");
}

TEST(Load, ThousandsOfMistakesAreCappedAndCounted) {
  std::string text(kMinimal);
  for (int i = 0; i < 5'000; ++i) text += "x" + std::to_string(i) + ": 1\n";
  const auto result = load_text("f", text, test_environment());
  ASSERT_FALSE(result.has_value());
  ASSERT_EQ(result.error().size(), 201U);
  EXPECT_EQ(result.error().back().message, "and 4800 more mistakes");
}

TEST(Load, AFileThatIsNotThereIsAMistakeOfItsOwn) {
  const auto result = load_file("/nonexistent/queqiao.yaml", test_environment());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(to_text(result.error().at(0)),
            "/nonexistent/queqiao.yaml: cannot be opened: No such file or directory");
}

TEST(Load, AFolderIsNoFile) {
  const auto result = load_file("/", test_environment());
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().at(0).message, ::testing::HasSubstr("directory"));
}

TEST(Load, TheMinimalExampleIsGood) {
  const auto result = load_file(QQ_SOURCE_DIR "/examples/minimal.yaml", test_environment());
  EXPECT_TRUE(result.has_value()) << to_text(result.error().front());
}

TEST(Load, ThePolledExampleIsGood) {
  const auto result = load_file(QQ_SOURCE_DIR "/examples/polled-adapter.yaml",
                                test_environment({{"BRAIN_KEY_ID", "id-1"}, {"BRAIN_SECRET", "secret"}}));
  EXPECT_TRUE(result.has_value()) << to_text(result.error().front());
}

// What the examples say at their top that they need, and nothing else: no other variable, no file.
Environment environment_of(std::vector<std::string> names) {
  Environment out;
  out.variable = [names = std::move(names)](const std::string& name) -> std::optional<std::string> {
    if (std::ranges::find(names, name) == names.end()) return std::nullopt;
    return "canary-of-16-characters";
  };
  out.file = [](const std::string&) { return std::unexpected("cannot be read"); };
  return out;
}

TEST(Load, TheExamplesWithKeysAreGoodWithTheVariablesTheyName) {
  for (const auto* file : {"openai.yaml", "queqiao.yaml"}) {
    const auto result = load_file(std::string(QQ_SOURCE_DIR "/examples/") + file,
                                  environment_of({"OPENAI_API_KEY", "QUEQIAO_KEY_PEPPER"}));
    ASSERT_TRUE(result.has_value()) << to_text(result.error().front());
    EXPECT_EQ(result->keys.size(), 1U);
  }
}

TEST(Load, TheExamplesWithKeysSayWhichVariablesTheyNeed) {
  for (const auto* file : {"openai.yaml", "queqiao.yaml"}) {
    const auto result = load_file(std::string(QQ_SOURCE_DIR "/examples/") + file, environment_of({}));
    ASSERT_FALSE(result.has_value());
    std::string messages;
    for (const Diagnostic& d : result.error()) messages += d.message + "\n";
    EXPECT_THAT(messages, ::testing::HasSubstr("OPENAI_API_KEY is not set"));
    EXPECT_THAT(messages, ::testing::HasSubstr("QUEQIAO_KEY_PEPPER is not set"));
    EXPECT_EQ(result.error().size(), 2U) << messages;
  }
}

}  // namespace
}  // namespace qq::config
