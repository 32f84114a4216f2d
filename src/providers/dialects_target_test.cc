// Targets of providers with other dialects than OpenAI's.
#include <fakes/service_account.h>

#include "providers/catalogue.h"

namespace qq::providers {
namespace {

using model::Endpoint;

ProviderConfig provider_of(std::string_view kind) {
  ProviderConfig made;
  made.name = "p";
  made.kind = kind;
  return made;
}

model::Target target_of(const ProviderConfig& provider, std::string_view model, std::string key = "k-123") {
  AccountConfig account;
  account.name = "main";
  account.credential = Secret(std::move(key));
  auto made = make_target(provider, account, model, "");
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : model::Target();
}

std::string why_not(const ProviderConfig& provider, std::string key = {}) {
  AccountConfig account;
  account.name = "main";
  account.credential = Secret(std::move(key));
  const auto made = make_target(provider, account, "m", "");
  return made ? "" : made.error().message;
}

TEST(AnthropicProvider, IsAskedForMessagesWithItsKeyAndVersion) {
  const model::Target target = target_of(provider_of("anthropic"), "claude-x");
  EXPECT_EQ(target.origin.host, "api.anthropic.com");
  EXPECT_EQ(target.endpoint(Endpoint::Messages).path(true), "/v1/messages");
  EXPECT_EQ(target.endpoint(Endpoint::CountMessageTokens).path(false), "/v1/messages/count_tokens");
  EXPECT_EQ(target.auth_header_lines.reveal(), "x-api-key: k-123\r\n");
  EXPECT_EQ(target.default_header_lines, "anthropic-version: 2023-06-01\r\n");
  EXPECT_EQ(target.endpoint_for(Endpoint::ChatCompletions), Endpoint::Messages) << "translated";
}

TEST(AnthropicProvider, OfOthersTakesBothFormsOfBaseUrlAndBothHeaders) {
  ProviderConfig provider = provider_of("anthropic_compatible");
  for (const std::string_view base :
       {"https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1"}) {
    provider.base_url = base;
    const model::Target target = target_of(provider, "m");
    EXPECT_EQ(target.endpoint(Endpoint::Messages).path_and_query, "/anthropic/v1/messages") << base;
    EXPECT_EQ(target.auth_header_lines.reveal(), "x-api-key: k-123\r\nauthorization: Bearer k-123\r\n");
  }
  EXPECT_THAT(why_not(provider_of("anthropic_compatible")), ::testing::HasSubstr("base_url is missing"));
}

TEST(GeminiProvider, HasTheModelInItsPathsAndAnotherOneForStreams) {
  const model::Target target = target_of(provider_of("gemini"), "gemini-3-pro");
  const model::TargetEndpoint& contents = target.endpoint(Endpoint::GenerateContent);
  EXPECT_EQ(contents.path(false), "/v1beta/models/gemini-3-pro:generateContent");
  EXPECT_EQ(contents.path(true), "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
  EXPECT_EQ(target.endpoint(Endpoint::CountContentTokens).path(true),
            "/v1beta/models/gemini-3-pro:countTokens");
  EXPECT_EQ(target.auth_header_lines.reveal(), "x-goog-api-key: k-123\r\n");
  EXPECT_FALSE(target.quirks.sends_model_in_body);
  EXPECT_EQ(
      target_of(provider_of("gemini"), "tunedModels/mine").endpoint(Endpoint::GenerateContent).path(false),
      "/v1beta/tunedModels/mine:generateContent");
}

std::string host_at(std::string_view location) {
  ProviderConfig provider = provider_of("vertex");
  provider.project = "p1";
  provider.location = location;
  return target_of(provider, "gemini-3-pro", "").origin.host;
}

TEST(VertexProvider, IsAtTheHostOfItsLocation) {
  EXPECT_EQ(host_at("europe-west4"), "europe-west4-aiplatform.googleapis.com");
  EXPECT_EQ(host_at("global"), "aiplatform.googleapis.com");
  EXPECT_EQ(host_at("eu"), "aiplatform.eu.rep.googleapis.com");
  EXPECT_EQ(host_at("us"), "aiplatform.us.rep.googleapis.com");
}

TEST(VertexProvider, IsAskedUnderItsProjectAndThePublisher) {
  const fakes::RsaPair pair;
  const std::string key = fakes::service_account_json(pair, "https://oauth2.googleapis.com/token");
  ProviderConfig provider = provider_of("vertex");
  provider.project = "p1";
  provider.location = "global";
  const model::Target gemini = target_of(provider, "gemini-3-pro", key);
  EXPECT_EQ(
      gemini.endpoint(Endpoint::GenerateContent).path(true),
      "/v1/projects/p1/locations/global/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse");
  EXPECT_EQ(gemini.request_auth, model::RequestAuth::GoogleToken);
  EXPECT_EQ(gemini.signing_credential.reveal(), key);
  EXPECT_TRUE(gemini.auth_header_lines.empty());
  EXPECT_EQ(target_of(provider, "endpoints/123", key).endpoint(Endpoint::GenerateContent).path(false),
            "/v1/projects/p1/locations/global/endpoints/123:generateContent");

  provider.kind = "vertex_anthropic";
  const model::Target claude = target_of(provider, "claude-sonnet-4-5@20250929", key);
  EXPECT_EQ(
      claude.endpoint(Endpoint::Messages).path(false),
      "/v1/projects/p1/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict");
  EXPECT_EQ(claude.endpoint(Endpoint::Messages).path(true),
            "/v1/projects/p1/locations/global/publishers/anthropic/models/"
            "claude-sonnet-4-5@20250929:streamRawPredict");
  EXPECT_EQ(claude.quirks.messages_form, model::MessagesForm::Vertex);
  EXPECT_EQ(claude.default_header_lines, "") << "the version stands in the body there";
}

TEST(BedrockProvider, HasTheModelAsOneSegmentAndSignsOrNot) {
  ProviderConfig provider = provider_of("bedrock");
  provider.region = "eu-central-1";
  const model::Target converse =
      target_of(provider, "anthropic.claude-3-haiku-20240307-v1:0", "AKIA1:secret:token");
  EXPECT_EQ(converse.origin.host, "bedrock-runtime.eu-central-1.amazonaws.com");
  EXPECT_EQ(converse.endpoint(Endpoint::Converse).path(false),
            "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse");
  EXPECT_EQ(converse.endpoint(Endpoint::Converse).path(true),
            "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream");
  EXPECT_EQ(converse.request_auth, model::RequestAuth::AwsSigV4);
  EXPECT_EQ(converse.signing_region, "eu-central-1");
  EXPECT_TRUE(converse.auth_header_lines.empty());

  const model::Target with_key = target_of(provider, "m", "ABSKQmVkcm9jaw==");
  EXPECT_EQ(with_key.request_auth, model::RequestAuth::Fixed);
  EXPECT_EQ(with_key.auth_header_lines.reveal(), "authorization: Bearer ABSKQmVkcm9jaw==\r\n");

  provider.kind = "bedrock_anthropic";
  const std::string arn = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude";
  const model::Target claude = target_of(provider, arn);
  EXPECT_EQ(
      claude.endpoint(Endpoint::Messages).path(true),
      "/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Ainference-profile%2Feu.anthropic.claude/"
      "invoke-with-response-stream");
  EXPECT_TRUE(claude.endpoint(Endpoint::Messages).path(false).ends_with("/invoke"));
  EXPECT_EQ(claude.quirks.messages_form, model::MessagesForm::BedrockInvoke);

  provider.region = "cn-north-1";
  EXPECT_EQ(target_of(provider, "m").origin.host, "bedrock-runtime.cn-north-1.amazonaws.com.cn");
}

TEST(OtherProviders, AreAskedAtTheirOwnPaths) {
  const model::Target cohere = target_of(provider_of("cohere"), "command-a");
  EXPECT_EQ(cohere.endpoint(Endpoint::CohereChat).path(true), "/v2/chat");
  EXPECT_EQ(cohere.endpoint(Endpoint::Rerank).path(false), "/v2/rerank");
  EXPECT_EQ(cohere.endpoint(Endpoint::CohereEmbed).path(false), "/v2/embed");
  EXPECT_EQ(target_of(provider_of("ollama_native"), "m").endpoint(Endpoint::OllamaChat).path(true),
            "/api/chat");
  EXPECT_EQ(target_of(provider_of("jina"), "m").endpoint(Endpoint::Rerank).path(false), "/v1/rerank");
  EXPECT_EQ(target_of(provider_of("openai"), "m").endpoint(Endpoint::AudioSpeech).path(false),
            "/v1/audio/speech");
}

TEST(OtherProviders, CompactWhereOpenAiDoes) {
  EXPECT_EQ(target_of(provider_of("openai"), "m").endpoint(Endpoint::CompactResponse).path(false),
            "/v1/responses/compact");
  ProviderConfig azure = provider_of("azure_openai");
  azure.base_url = "https://r.openai.azure.com/openai/v1";
  EXPECT_TRUE(target_of(azure, "m").offers(Endpoint::CompactResponse));
  azure.base_url = "https://r.openai.azure.com";
  azure.api_version = "2024-10-21";
  EXPECT_FALSE(target_of(azure, "m").offers(Endpoint::CompactResponse)) << "it has no deployment in its path";
  EXPECT_FALSE(target_of(provider_of("anthropic"), "m").endpoint_for(Endpoint::CompactResponse));
}

std::string embeds_at(const ProviderConfig& provider, std::string_view model,
                      Endpoint asked = Endpoint::Embeddings) {
  const model::Target target = target_of(provider, model, "");
  const auto at = target.endpoint_for(asked);
  return at ? target.endpoint(*at).path(false) : "nowhere";
}

TEST(Embedding, IsAskedOfEachProviderInItsOwnWay) {
  EXPECT_EQ(embeds_at(provider_of("gemini"), "gemini-embedding-001"),
            "/v1beta/models/gemini-embedding-001:batchEmbedContents");
  EXPECT_EQ(embeds_at(provider_of("gemini"), "gemini-embedding-001", Endpoint::EmbedContent),
            "/v1beta/models/gemini-embedding-001:embedContent");
  EXPECT_EQ(embeds_at(provider_of("cohere"), "embed-v4.0"), "/v2/embed");
  EXPECT_EQ(embeds_at(provider_of("openai"), "m", Endpoint::BatchEmbedContents), "/v1/embeddings");
  EXPECT_EQ(embeds_at(provider_of("anthropic"), "m"), "nowhere");
}

TEST(Embedding, AtVertexGoesByTheModelsName) {
  ProviderConfig vertex = provider_of("vertex");
  vertex.project = "p1";
  vertex.location = "us-central1";
  const std::string models = "/v1/projects/p1/locations/us-central1/publishers/google/models/";
  EXPECT_EQ(embeds_at(vertex, "gemini-embedding-001"), models + "gemini-embedding-001:predict");
  EXPECT_EQ(embeds_at(vertex, "text-embedding-005"), models + "text-embedding-005:predict");
  EXPECT_EQ(embeds_at(vertex, "gemini-embedding-2"), models + "gemini-embedding-2:embedContent");
  vertex.kind = "vertex_anthropic";
  EXPECT_EQ(embeds_at(vertex, "claude-x"), "nowhere");
}

TEST(Embedding, AtBedrockIsForModelsWhoseWordsAreKnown) {
  ProviderConfig bedrock = provider_of("bedrock");
  bedrock.region = "eu-central-1";
  EXPECT_EQ(embeds_at(bedrock, "amazon.titan-embed-text-v2:0"),
            "/model/amazon.titan-embed-text-v2%3A0/invoke");
  EXPECT_EQ(embeds_at(bedrock, "eu.cohere.embed-v4:0"), "/model/eu.cohere.embed-v4%3A0/invoke");
  EXPECT_EQ(embeds_at(bedrock, "anthropic.claude-x"), "nowhere");
}

TEST(CountingOfClaude, IsAModelOfItsOwnAtVertex) {
  ProviderConfig vertex = provider_of("vertex_anthropic");
  vertex.project = "p1";
  vertex.location = "global";
  EXPECT_EQ(target_of(vertex, "claude-x@1", "").endpoint(Endpoint::CountMessageTokens).path(false),
            "/v1/projects/p1/locations/global/publishers/anthropic/models/count-tokens:rawPredict");
  EXPECT_FALSE(target_of(vertex, "endpoints/123", "").offers(Endpoint::CountMessageTokens));
}

TEST(CountingOfClaude, IsOfModelsAndNotOfProfilesAtBedrock) {
  ProviderConfig bedrock = provider_of("bedrock_anthropic");
  bedrock.region = "eu-central-1";
  const auto path = [&](std::string_view model) {
    return target_of(bedrock, model).endpoint(Endpoint::CountMessageTokens).path(false);
  };
  EXPECT_EQ(path("anthropic.claude-x-v1:0"), "/model/anthropic.claude-x-v1%3A0/count-tokens");
  EXPECT_EQ(path("eu.anthropic.claude-x-v1:0"), "/model/anthropic.claude-x-v1%3A0/count-tokens");
  EXPECT_EQ(path("arn:aws:bedrock:r:1:inference-profile/eu.anthropic.claude"), "") << "estimated";
  EXPECT_EQ(path("my-name"), "") << "estimated";
}

TEST(OtherProviders, SayWhichKeyIsMissingOrMeansNothing) {
  ProviderConfig vertex = provider_of("vertex");
  EXPECT_THAT(why_not(vertex), ::testing::HasSubstr("project is missing"));
  vertex.project = "p1";
  EXPECT_THAT(why_not(vertex), ::testing::HasSubstr("location is missing"));
  vertex.location = "evil.example/";
  EXPECT_THAT(why_not(vertex), ::testing::HasSubstr("location must be"));
  ProviderConfig bedrock = provider_of("bedrock");
  EXPECT_THAT(why_not(bedrock), ::testing::HasSubstr("region is missing"));
  bedrock.region = "Upper";
  EXPECT_THAT(why_not(bedrock), ::testing::HasSubstr("region must be"));
  ProviderConfig openai = provider_of("openai");
  openai.region = "eu-central-1";
  EXPECT_THAT(why_not(openai), ::testing::HasSubstr("region is set, and means nothing"));
}

TEST(OtherProviders, RefuseCredentialsOfAnotherForm) {
  EXPECT_THAT(why_not(provider_of("openai"), R"({"type":"service_account"})"),
              ::testing::HasSubstr("JSON document"));
  ProviderConfig bedrock = provider_of("bedrock");
  bedrock.region = "eu-central-1";
  EXPECT_THAT(why_not(bedrock, "AKIA1:"), ::testing::HasSubstr("ACCESS_KEY_ID:SECRET_ACCESS_KEY"));
  ProviderConfig vertex = provider_of("vertex");
  vertex.project = "p1";
  vertex.location = "global";
  EXPECT_THAT(why_not(vertex, "AIza-key"), ::testing::HasSubstr("no JSON document"));
}

}  // namespace
}  // namespace qq::providers
