// Recorded exchanges of Ollama's own chat, and other applications' requests as Ollama gets them.
#include <recordings/recorded_dialect.h>

#include "dialects/ollama/dialect.h"
#include "wire/json.h"

namespace qq::dialects::ollama {
namespace {

using recordings::Recording;

class OllamaRecordings : public recordings::RecordedDialect {
 protected:
  void SetUp() override {
    // The others are OpenAI's dialect, or no chat.
    load({"ollama"}, [](const Recording& recording) { return recording.path == "/api/chat"; });
    if (!IsSkipped()) ASSERT_EQ(all_.size(), 1U);
  }
};

TEST_F(OllamaRecordings, DecodeToWhatTheSummarySays) {
  recordings::expect_summary("ollama", all_, [](const Recording& recording) {
    return recordings::read_reply(provider_side(), model::Dialect::Ollama, {}, recording);
  });
}

TEST_F(OllamaRecordings, RequestsOfOtherDialectsBecomeOnesThatOllamaTakes) {
  std::size_t count = 0;
  for (const auto& [name, request] : recordings::asked_requests()) {
    model::Target target;
    target.upstream_model = "qwen3:8b";
    target.reasons = true;
    Losses losses;
    const auto encoded = provider_side().encode_request(request, target, losses);
    if (!encoded) {
      EXPECT_FALSE(encoded.error().param.empty()) << name << ": " << encoded.error().message;
      continue;
    }
    ++count;
    ASSERT_FALSE(wire::check_json(encoded->body)) << name << encoded->body;
    for (wire::JsonElements each(*wire::JsonValue(encoded->body).member("messages")); each.next();) {
      EXPECT_TRUE(each.value().member("content")->is_string()) << name;
      const auto calls = each.value().member("tool_calls");
      if (!calls) continue;
      for (wire::JsonElements call(*calls); call.next();)
        EXPECT_TRUE(call.value().at("function", "arguments")->is_object()) << name;
    }
  }
  EXPECT_GT(count, 80U);
}

}  // namespace
}  // namespace qq::dialects::ollama
