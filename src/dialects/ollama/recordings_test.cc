// Recorded exchanges of Ollama's own chat, and other applications' requests as Ollama gets them.
#include <recordings/dialects.h>
#include <recordings/fixture.h>

#include "dialects/ollama/dialect.h"
#include "wire/json.h"

namespace qq::dialects::ollama {
namespace {

class OllamaRecordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    const recordings::Recorded& recorded = recordings::recorded_in(model::Dialect::Ollama);
    load(recorded.exchanges, recorded.speaks);
  }
};

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
