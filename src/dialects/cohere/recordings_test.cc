// Recorded exchanges of Cohere, and other applications' requests as Cohere gets them.
#include <recordings/dialects.h>
#include <recordings/fixture.h>

#include "dialects/cohere/dialect.h"
#include "wire/json.h"

namespace qq::dialects::cohere {
namespace {

class CohereRecordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    const recordings::Recorded& recorded = recordings::recorded_in(model::Dialect::Cohere);
    load(recorded.exchanges, recorded.speaks);
  }
};

TEST_F(CohereRecordings, RequestsOfOtherDialectsBecomeOnesThatCohereTakes) {
  std::size_t count = 0;
  for (const auto& [name, request] : recordings::asked_requests()) {
    model::Target target;
    target.upstream_model = "command-a-plus-05-2026";
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
      const bool is_result = each.value().member("role")->raw_string() == "tool";
      EXPECT_EQ(each.value().member("tool_call_id").has_value(), is_result) << name;
      EXPECT_TRUE(each.value().member("content") || each.value().member("tool_calls")) << name;
    }
  }
  EXPECT_GT(count, 100U);
}

}  // namespace
}  // namespace qq::dialects::cohere
