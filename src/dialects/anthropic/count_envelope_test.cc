#include "dialects/anthropic/count_envelope.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "wire/json.h"

namespace qq::dialects::anthropic {
namespace {

model::Target counted_at(model::MessagesForm form, std::string_view upstream) {
  model::Target target;
  target.upstream_model = upstream;
  target.quirks.sends_model_in_body = false;
  target.quirks.messages_form = form;
  return target;
}

constexpr std::string_view kCounted =
    R"({"model":"alias","system":"s","messages":[{"role":"user","content":"a"}],"new_member":[1]})";

TEST(EnvelopedCounts, NameTheModelInTheBodyAtVertex) {
  for (const std::string_view name : {"claude-x@1", "publishers/anthropic/models/claude-x@1"}) {
    const EncodedRequest out =
        encode_enveloped_count(kCounted, "beta-1,beta-2", counted_at(model::MessagesForm::Vertex, name));
    EXPECT_EQ(out.body, R"({"anthropic_version":"vertex-2023-10-16","model":"claude-x@1","system":"s",)"
                        R"("messages":[{"role":"user","content":"a"}],"new_member":[1]})");
    EXPECT_EQ(out.header_lines, "anthropic-beta: beta-1,beta-2\r\n");
  }
}

TEST(EnvelopedCounts, AreTheBodyOfAnInvocationAtBedrock) {
  const EncodedRequest out = encode_enveloped_count(
      kCounted, "beta-1, beta-2", counted_at(model::MessagesForm::BedrockInvoke, "anthropic.claude-x"));
  EXPECT_EQ(out.header_lines, "");
  const auto sealed = wire::JsonValue(out.body).at("input", "invokeModel", "body");
  ASSERT_TRUE(sealed) << out.body;
  EXPECT_EQ(from_base64(sealed->string()),
            R"({"anthropic_version":"bedrock-2023-05-31","system":"s",)"
            R"("messages":[{"role":"user","content":"a"}],"new_member":[1],"max_tokens":1,)"
            R"("anthropic_beta":["beta-1","beta-2"]})");
}

TEST(EnvelopedCounts, TakeNoNumberBeyondCounting) {
  const EncodedRequest out = encode_enveloped_count(
      R"({"model":"m","thinking":{"type":"enabled","budget_tokens":9223372036854775807},"messages":[]})", {},
      counted_at(model::MessagesForm::BedrockInvoke, "anthropic.claude-x"));
  const auto inner = from_base64(wire::JsonValue(out.body).at("input", "invokeModel", "body")->string());
  ASSERT_TRUE(inner);
  EXPECT_TRUE(inner->contains(R"("max_tokens":1000000001)")) << *inner;
}

TEST(EnvelopedCounts, LeaveRoomForWhatMayBeThought) {
  const EncodedRequest out = encode_enveloped_count(
      R"({"model":"m","thinking":{"type":"enabled","budget_tokens":2048},"messages":[]})", {},
      counted_at(model::MessagesForm::BedrockInvoke, "anthropic.claude-x"));
  const auto inner = from_base64(wire::JsonValue(out.body).at("input", "invokeModel", "body")->string());
  ASSERT_TRUE(inner);
  EXPECT_TRUE(inner->contains(R"("max_tokens":2049)")) << *inner;
}

TEST(EnvelopedCounts, AnswersAreReadInBothSpellings) {
  EXPECT_EQ(decode_enveloped_count(R"({"inputTokens":12})"), 12);
  EXPECT_EQ(decode_enveloped_count(R"({"input_tokens":13})"), 13);
  for (const std::string_view other : {R"({"inputTokens":-1})", R"({"inputTokens":"12"})", "{}", "no"}) {
    EXPECT_EQ(decode_enveloped_count(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace qq::dialects::anthropic
