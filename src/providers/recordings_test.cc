// Every recorded refusal of the OpenAI dialects, and every fixture of the tree: which kind it is, and that it
// has words and no key in it.
#include <recordings/recordings.h>

#include <map>

#include "providers/catalogue.h"
#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

std::string kind_of(const std::string& provider) {
  if (provider == "azure") return "azure_openai";
  return find_kind(provider) != nullptr ? provider : "openai_compatible";
}

TEST(FixtureErrors, AreClassified) {
  std::map<std::string, std::string_view> kinds;
  for (const recordings::Recording& fixture :
       recordings::load_openai(QQ_SOURCE_DIR "/tests/fixtures/recordings")) {
    if (fixture.status < 400) continue;
    const wire::Fields none;
    const Error error =
        classify_reply(kind_of(fixture.provider), fixture.status, none, fixture.body, WallTime{});
    kinds[fixture.name] = to_string(error.kind);
    EXPECT_FALSE(error.message.empty()) << fixture.name;
  }
  const std::map<std::string, std::string_view> expected = {
      {"azure/chat-400-content-filter.json", "refused"},
      {"azure/chat-429.json", "rate_limited"},
      {"deepseek/chat-402.json", "quota_exhausted"},
      {"llamacpp/chat-400.json", "refused"},
      {"minimax/chat-429-usage-limit.json", "quota_exhausted"},
      {"mistral/chat-400.json", "model_missing"},
      {"mistral/chat-401.json", "credential_dead"},
      {"mistral/chat-422.json", "refused"},
      {"ollama/chat-404.json", "model_missing"},
      {"openai/chat-400-unsupported-parameter.json", "refused"},
      {"openai/chat-429-insufficient-quota.json", "quota_exhausted"},
      {"openai/chat-429-rate-limit.json", "rate_limited"},
      {"perplexity/chat-403-retired.json", "model_missing"},
      {"qianfan/chat-403-unsafe.json", "refused"},
      {"vllm/chat-400.json", "refused"},
      {"xai/chat-400-error-string.json", "credential_dead"},
      {"zhipu/chat-429-concurrency.json", "rate_limited"},
      {"zhipu/chat-429-no-money.json", "quota_exhausted"},
  };
  EXPECT_EQ(kinds, expected);
}

TEST(RecordedErrors, AreClassified) {
  const auto folder = recordings::folder();
  if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
  std::map<std::string, int> counts;
  for (const recordings::Recording& recording : recordings::load_openai(*folder)) {
    if (recording.status < 400) continue;
    wire::Fields fields;
    for (const auto& [name, value] : recording.headers) fields.add({name, value});
    const Error error =
        classify_reply(kind_of(recording.provider), recording.status, fields, recording.body, WallTime{});
    ++counts[std::to_string(recording.status) + " " + std::string(to_string(error.kind))];
    EXPECT_FALSE(error.message.empty()) << recording.name;
    EXPECT_EQ(error.upstream_status, recording.status);
    if (recording.status == 401) {
      EXPECT_EQ(error.kind, ErrorKind::CredentialDead) << recording.name;
    }
    if (recording.provider == "azure" && recording.status == 429) {
      EXPECT_EQ(error.retry_after, std::chrono::seconds(1)) << "retry-after 1 beside retry-after-ms 0";
    }
  }
  const std::map<std::string, int> expected = {
      {"400 credential_dead", 1}, {"400 model_missing", 1}, {"400 refused", 13},
      {"401 credential_dead", 7}, {"404 model_missing", 3}, {"429 rate_limited", 2},
  };
  EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace qq::providers
