#include "providers/catalogue.h"

#include <fstream>
#include <set>
#include <sstream>

namespace qq::providers {
namespace {

std::string_view short_name(model::Endpoint endpoint) {
  switch (endpoint) {
    case model::Endpoint::ChatCompletions: return "chat";
    case model::Endpoint::Responses: return "responses";
    case model::Endpoint::Completions: return "completions";
    case model::Endpoint::Embeddings:
    case model::Endpoint::EmbedContent:
    case model::Endpoint::BatchEmbedContents:
    case model::Endpoint::CohereEmbed:
    case model::Endpoint::Predict:
    case model::Endpoint::InvokeEmbed: return "embeddings";
    case model::Endpoint::Moderations: return "moderations";
    case model::Endpoint::ImagesGenerations: return "images";
    case model::Endpoint::Messages: return "messages";
    case model::Endpoint::GenerateContent: return "contents";
    case model::Endpoint::CohereChat:
    case model::Endpoint::OllamaChat: return "its own chat";
    case model::Endpoint::CountInputTokens:
    case model::Endpoint::CountMessageTokens:
    case model::Endpoint::CountContentTokens: return "counting tokens";
    case model::Endpoint::CompactResponse: return "compaction";
    case model::Endpoint::ImagesEdits: return "image edits";
    case model::Endpoint::AudioSpeech: return "speech";
    case model::Endpoint::AudioTranscriptions: return "transcriptions";
    case model::Endpoint::AudioTranslations: return "translations";
    case model::Endpoint::MessageFiles: return "files";
    case model::Endpoint::MessageBatches: return "batches";
    default: return to_string(endpoint);
  }
}

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string endpoints_of(const ProviderKind& kind) {
  std::string out;
  std::set<std::string_view> said;
  for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
    const std::string_view name = short_name(static_cast<model::Endpoint>(i));
    if ((kind.endpoints & (1U << i)) == 0 || !said.insert(name).second) continue;
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

std::string habits_of(const ProviderKind& kind) {
  std::string out;
  const auto add = [&out](bool is, std::string_view words) {
    if (!is) return;
    if (!out.empty()) out += "; ";
    out += words;
  };
  add(!kind.quirks.force_include_usage, "sends stream usage unasked");
  add(kind.quirks.refuses_include_usage, "refuses to be asked for it");
  add(kind.quirks.reasoning_excluded_from_output, "chat: reasoning beside completion_tokens");
  add(kind.quirks.prefers_responses, "asked in another dialect, it is asked for responses");
  add(kind.limits == LimitScope::Model, "each model has limits of its own");
  return out;
}

std::string credential_of(const ProviderKind& kind) {
  switch (kind.auth) {
    case AuthForm::Bearer: return "`authorization: Bearer`";
    case AuthForm::ApiKeyHeader: return "`api-key`";
    case AuthForm::XApiKey: return "`x-api-key`";
    case AuthForm::XApiKeyAndBearer: return "`x-api-key` and `authorization: Bearer`";
    case AuthForm::XGoogApiKey: return "`x-goog-api-key`";
    case AuthForm::AwsKeys: return "a signature, or `authorization: Bearer`";
    case AuthForm::GoogleAccount: return "`authorization: Bearer` with tokens fetched for it";
    case AuthForm::None: return "none";
  }
  return {};
}

std::string row_of(const ProviderKind& kind) {
  return "| " + code(kind.name) + " | " + std::string(kind.title) + " | " +
         (kind.base_url.empty() ? "must be given" : code(kind.base_url)) + " | " + credential_of(kind) +
         " | " + code(kind.key_env) + " | " + endpoints_of(kind) + " | " + habits_of(kind) + " |";
}

TEST(Catalogue, EqualsTheTableInTheDocumentation) {
  std::ifstream in(QQ_SOURCE_DIR "/docs/providers.md");
  ASSERT_TRUE(in) << "docs/providers.md is missing";
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  std::vector<std::string> expected;
  for (const ProviderKind& kind : catalogue()) expected.push_back(row_of(kind));
  std::string all;
  for (const std::string& row : expected) all += row + "\n";
  EXPECT_EQ(rows, expected) << "the table should be:\n" << all;
}

TEST(Catalogue, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const ProviderKind& kind : catalogue()) EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
}

// With a place where the URL has one.
bool is_url(std::string_view pattern) {
  std::string url(pattern);
  if (const std::size_t at = url.find('{'); at != std::string::npos) {
    url.replace(at, url.find('}') - at + 1, "somewhere-1");
  }
  return parse_base_url(url).has_value();
}

TEST(Catalogue, EveryDefaultUrlIsOneAndNearlyEveryKindOffersAConversation) {
  for (const ProviderKind& kind : catalogue()) {
    EXPECT_TRUE(kind.base_url.empty() || is_url(kind.base_url)) << kind.name;
    bool converses = false;
    for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
      const bool offered = (kind.endpoints & (1U << i)) != 0;
      converses = converses || (offered && model::conversation_at(static_cast<model::Endpoint>(i)));
    }
    EXPECT_EQ(converses, kind.name != "jina") << kind.name;
  }
}

bool offers(std::string_view name, model::Endpoint endpoint) {
  const ProviderKind* const kind = find_kind(name);
  return kind != nullptr && (kind->endpoints & (1U << static_cast<unsigned>(endpoint))) != 0;
}

TEST(Catalogue, KnowsWhoOffersResponses) {
  for (const char* name : {"moonshot", "minimax", "qwen", "hunyuan", "perplexity"}) {
    EXPECT_TRUE(offers(name, model::Endpoint::Responses)) << name;
  }
  EXPECT_TRUE(offers("perplexity", model::Endpoint::ChatCompletions)) << "for proxies of the old form";
}

TEST(Catalogue, KnowsWhoSaysMoreInResponses) {
  for (const ProviderKind& kind : catalogue()) {
    const bool prefers = kind.name == "openai" || kind.name == "azure_openai" || kind.name == "xai";
    EXPECT_EQ(kind.quirks.prefers_responses, prefers) << kind.name;
  }
}

TEST(Catalogue, LeavesAddressesThatWereShut) {
  EXPECT_EQ(find_kind("hunyuan")->base_url, "https://tokenhub.tencentmaas.com/v1");
  EXPECT_EQ(find_kind("together")->base_url, "https://api.together.ai/v1");
}

TEST(Catalogue, AsksForUsageOnlyWhereItDoesNotComeAnyway) {
  EXPECT_FALSE(find_kind("openrouter")->quirks.force_include_usage);
  EXPECT_FALSE(find_kind("mistral")->quirks.force_include_usage);
  EXPECT_TRUE(find_kind("mistral")->quirks.refuses_include_usage);
  EXPECT_FALSE(find_kind("openrouter")->quirks.refuses_include_usage);
}

TEST(Catalogue, KnowsHowTranslatedRequestsArePut) {
  using Chat = model::ChatQuirks;
  EXPECT_TRUE(find_kind("openai")->quirks.chat.openai_words);
  EXPECT_TRUE(find_kind("azure_openai")->quirks.chat.openai_words);
  EXPECT_FALSE(find_kind("openai_compatible")->quirks.chat.openai_words);
  EXPECT_EQ(find_kind("deepseek")->quirks.chat.thoughts, Chat::Thoughts::WithCalls);
  EXPECT_EQ(find_kind("moonshot")->quirks.chat.thoughts, Chat::Thoughts::FilledCalls);
  EXPECT_EQ(find_kind("openrouter")->quirks.chat.thinking, Chat::Thinking::Object);
  EXPECT_EQ(find_kind("zhipu")->quirks.chat.must_call, Chat::MustCall::Never);
  EXPECT_TRUE(find_kind("mistral")->quirks.chat.nine_letter_ids);
}

TEST(Catalogue, FindsKindsByName) {
  ASSERT_NE(find_kind("groq"), nullptr);
  EXPECT_EQ(find_kind("groq")->title, "Groq");
  EXPECT_EQ(find_kind("nobody"), nullptr);
}

}  // namespace
}  // namespace qq::providers
