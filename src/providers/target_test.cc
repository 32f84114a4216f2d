#include "providers/catalogue.h"

namespace qq::providers {
namespace {

using model::Endpoint;

ProviderConfig provider(std::string kind, std::string base_url = {}, std::string api_version = {}) {
  ProviderConfig made;
  made.name = "p";
  made.kind = std::move(kind);
  made.base_url = std::move(base_url);
  made.api_version = std::move(api_version);
  return made;
}

AccountConfig account(std::string key = "k-123", std::string limit_group = {}) {
  AccountConfig made;
  made.name = "main";
  made.credential = Secret(std::move(key));
  made.limit_group = std::move(limit_group);
  return made;
}

std::string path(const model::Target& target, Endpoint endpoint) {
  return target.endpoint(endpoint).path_and_query;
}

TEST(Target, HasIdentitiesForReloadsCoolDownsAndLimitGroups) {
  const auto alone = make_target(provider("openai"), account(), "mini", "gpt-4o-mini");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->name, "p/main/mini");
  EXPECT_EQ(alone->account_name, "p/main");
  EXPECT_EQ(alone->limit_group_name, "p/main");
  EXPECT_EQ(alone->upstream_model, "gpt-4o-mini");
  const auto grouped = make_target(provider("openai"), account("k", "org-1"), "mini", "");
  ASSERT_TRUE(grouped);
  EXPECT_EQ(grouped->limit_group_name, "p/org-1");
  EXPECT_EQ(grouped->upstream_model, "mini") << "without a name of its own the provider's is ours";
}

TEST(Target, HasALimitGroupOfItsModelWhereLimitsAreAModels) {
  const auto group = [](std::string_view model, std::string upstream, std::string limit_group = {}) {
    return make_target(provider("qwen"), account("k", std::move(limit_group)), model, upstream)
        ->limit_group_name;
  };
  EXPECT_EQ(group("a", "qwen-plus"), "p/main/qwen-plus");
  EXPECT_EQ(group("b", "qwen-plus"), "p/main/qwen-plus") << "two names, one limit";
  EXPECT_EQ(group("qwen-max", ""), "p/main/qwen-max");
  EXPECT_EQ(group("a", "qwen-plus", "org-1"), "p/org-1/qwen-plus");
}

TEST(Target, SendsABearerTokenToTheUsualPaths) {
  const auto target = make_target(provider("openai"), account(), "m", "m");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->auth_header_lines.reveal(), "authorization: Bearer k-123\r\n");
  EXPECT_EQ(path(*target, Endpoint::ChatCompletions), "/v1/chat/completions");
  EXPECT_EQ(path(*target, Endpoint::ImagesGenerations), "/v1/images/generations");
  EXPECT_EQ(target->origin.host, "api.openai.com");
}

TEST(Target, OffersOnlyWhatItsKindDoes) {
  const auto target = make_target(provider("zhipu"), account(), "m", "m");
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->offers(Endpoint::ChatCompletions));
  EXPECT_FALSE(target->offers(Endpoint::Responses));
}

TEST(Target, ReachesPerplexitysResponsesUnderTheVersionThatItsChatHasNot) {
  const auto target = make_target(provider("perplexity"), account(), "m", "m");
  ASSERT_TRUE(target);
  EXPECT_EQ(path(*target, Endpoint::ChatCompletions), "/chat/completions");
  EXPECT_EQ(path(*target, Endpoint::Responses), "/v1/responses");
  const auto versioned =
      make_target(provider("perplexity", "https://api.perplexity.ai/v1"), account(), "m", "m");
  ASSERT_TRUE(versioned);
  EXPECT_EQ(path(*versioned, Endpoint::Responses), "/v1/responses");
}

TEST(Target, SendsNoCredentialWhenThereIsNone) {
  const auto target = make_target(provider("vllm"), account(""), "m", "m");
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->auth_header_lines.empty());
}

TEST(Target, AzureClassicFormHasTheDeploymentInThePath) {
  const auto target = make_target(provider("azure_openai", "https://r.openai.azure.com", "2024-10-21"),
                                  account(), "m", "my dep/1");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(path(*target, Endpoint::ChatCompletions),
            "/openai/deployments/my%20dep%2F1/chat/completions?api-version=2024-10-21");
  EXPECT_EQ(target->auth_header_lines.reveal(), "api-key: k-123\r\n");
  EXPECT_FALSE(target->quirks.sends_model_in_body);
  EXPECT_TRUE(target->quirks.force_include_usage);
  EXPECT_FALSE(target->offers(Endpoint::Responses)) << "has no deployment form";
  EXPECT_FALSE(target->offers(Endpoint::Files)) << "nor has this";
}

TEST(Target, AzureBaseUrlMayEndInOpenai) {
  const auto target = make_target(
      provider("azure_openai", "https://r.openai.azure.com/openai/", "2024-10-21"), account(), "m", "d");
  ASSERT_TRUE(target);
  EXPECT_EQ(path(*target, Endpoint::Embeddings), "/openai/deployments/d/embeddings?api-version=2024-10-21");
}

TEST(Target, AzureV1FormHasTheDeploymentAsModel) {
  const auto target =
      make_target(provider("azure_openai", "https://r.openai.azure.com/openai/v1/"), account(), "m", "d");
  ASSERT_TRUE(target);
  EXPECT_EQ(path(*target, Endpoint::Responses), "/openai/v1/responses");
  EXPECT_EQ(path(*target, Endpoint::ChatCompletions), "/openai/v1/chat/completions");
  EXPECT_TRUE(target->quirks.sends_model_in_body);
}

TEST(Target, RealtimesUrlNamesTheModel) {
  const auto openai = make_target(provider("openai"), account(), "m", "gpt realtime/1");
  ASSERT_TRUE(openai);
  EXPECT_EQ(path(*openai, Endpoint::Realtime), "/v1/realtime?model=gpt%20realtime%2F1");
  const auto azure =
      make_target(provider("azure_openai", "https://r.openai.azure.com/openai/v1"), account(), "m", "d");
  ASSERT_TRUE(azure);
  EXPECT_EQ(path(*azure, Endpoint::Realtime), "/openai/v1/realtime?model=d");
  const auto classic = make_target(
      provider("azure_openai", "https://r.openai.azure.com", "2024-10-01-preview"), account(), "m", "d/1");
  ASSERT_TRUE(classic);
  EXPECT_EQ(path(*classic, Endpoint::Realtime),
            "/openai/realtime?api-version=2024-10-01-preview&deployment=d%2F1");
  const auto compatible =
      make_target(provider("openai_compatible", "https://example.com/v1"), account(), "m", "m");
  ASSERT_TRUE(compatible);
  EXPECT_TRUE(compatible->offers(Endpoint::Realtime));
  const auto mistral = make_target(provider("mistral"), account(), "m", "m");
  ASSERT_TRUE(mistral);
  EXPECT_FALSE(mistral->offers(Endpoint::Realtime));
}

TEST(Target, OldAzureVersionsAreNotAskedForStreamUsage) {
  const auto target =
      make_target(provider("azure_openai", "https://r.openai.azure.com", "2024-02-01"), account(), "m", "d");
  ASSERT_TRUE(target);
  EXPECT_FALSE(target->quirks.force_include_usage);
}

TEST(Target, PrivateAndPublicProvidersShareNoConnections) {
  auto open = provider("openai_compatible", "http://10.0.0.5:8000/v1");
  open.allow_private_address = true;
  const auto with = make_target(open, account(), "m", "m");
  const auto without =
      make_target(provider("openai_compatible", "http://10.0.0.5:8000/v1"), account(), "m", "m");
  ASSERT_TRUE(with && without);
  EXPECT_TRUE(with->origin.allow_private_address);
  EXPECT_NE(with->origin.pool_key, without->origin.pool_key);
}

TEST(Target, ErrorsNameTheProviderAndWhatToChange) {
  struct Bad {
    ProviderConfig config;
    std::string key;
    std::string_view words;
  };
  const std::vector<Bad> cases = {
      {provider("nope"), "k", "openai_compatible"},
      {provider("openai_compatible"), "k", "base_url"},
      {provider("openai", "api.openai.com"), "k", "https://"},
      {provider("azure_openai", "https://r.openai.azure.com"), "k", "api_version"},
      {provider("openai"), "sk-abc\nsecret", "line end"},
  };
  for (const Bad& bad : cases) {
    const auto target = make_target(bad.config, account(bad.key), "m", "m");
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().kind, ErrorKind::Config);
    EXPECT_THAT(target.error().message, ::testing::HasSubstr("provider \"p\""));
    EXPECT_THAT(target.error().message, ::testing::HasSubstr(std::string(bad.words)));
    EXPECT_THAT(target.error().message, ::testing::Not(::testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace qq::providers
