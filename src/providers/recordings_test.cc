// Every recorded refusal of the OpenAI dialects: which kind it is, and that it has words and no key in it.
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
