// Recorded exchanges of Converse, and other applications' requests as Converse gets them.
#include <fakes/neutral.h>
#include <recordings/dialects.h>
#include <recordings/fixture.h>

#include "dialects/bedrock/dialect.h"
#include "wire/json.h"

namespace qq::dialects::bedrock {
namespace {

using recordings::Recording;
using wire::JsonValue;

class BedrockRecordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    const recordings::Recorded& recorded = recordings::recorded_in(model::Dialect::Bedrock);
    load(recorded.exchanges, recorded.speaks);
  }
};

TEST_F(BedrockRecordings, TellWhatTheAnswerCost) {
  for (const Recording& recording : all_) {
    if (recording.status >= 400) continue;
    model::Usage usage;
    if (recording.stream) {
      usage = qq::testing::decode_stream(provider_side(), model::Dialect::Bedrock, {}, recording.body)
                  .answer.usage;
    } else {
      const auto answer = provider_side().decode_answer(recording.body, {}, "seed");
      ASSERT_TRUE(answer) << recording.name;
      usage = answer->usage;
      const auto total = JsonValue(recording.body).at("usage", "totalTokens");
      ASSERT_TRUE(total) << recording.name;
      EXPECT_EQ(usage.input_total() + usage.output_total(), total->integer()) << recording.name;
    }
    EXPECT_EQ(usage.source, model::UsageSource::Provider) << recording.name;
  }
}

// What Converse refuses, whatever the model.
void expect_accepted(JsonValue body, const std::string& name) {
  std::string last_role;
  bool has_tool_blocks = false;
  const auto messages = body.member("messages");
  ASSERT_TRUE(messages) << name;
  for (wire::JsonElements each(*messages); each.next();) {
    const std::string role = each.value().member("role")->string();
    EXPECT_NE(role, last_role) << name;
    if (last_role.empty()) EXPECT_EQ(role, "user") << name;
    last_role = role;
    bool any = false;
    for (wire::JsonElements blocks(*each.value().member("content")); blocks.next(); any = true) {
      const JsonValue block = blocks.value();
      if (const auto text = block.member("text")) EXPECT_FALSE(text->is_blank_string()) << name;
      has_tool_blocks |= block.member("toolUse") || block.member("toolResult");
      if (const auto call = block.member("toolUse")) {
        EXPECT_TRUE(call->member("input")->is_object()) << name;
        EXPECT_LE(call->member("toolUseId")->string().size(), 64U) << name;
      }
    }
    EXPECT_TRUE(any) << name;
  }
  if (has_tool_blocks) EXPECT_TRUE(body.at("toolConfig", "tools")) << name;
}

TEST_F(BedrockRecordings, RequestsOfOtherDialectsBecomeOnesThatConverseTakes) {
  std::size_t count = 0;
  for (const auto& [name, request] : recordings::asked_requests()) {
    for (const char* const model :
         {"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-2-lite-v1:0"}) {
      model::Target target;
      target.upstream_model = model;
      Losses losses;
      const auto encoded = provider_side().encode_request(request, target, losses);
      if (!encoded) {
        EXPECT_FALSE(encoded.error().param.empty()) << name << ": " << encoded.error().message;
        continue;
      }
      ++count;
      ASSERT_FALSE(wire::check_json(encoded->body)) << name << encoded->body;
      expect_accepted(JsonValue(encoded->body), name);
    }
  }
  EXPECT_GT(count, 200U);
}

}  // namespace
}  // namespace qq::dialects::bedrock
