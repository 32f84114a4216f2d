#include "dialects/openai_responses/history.h"

#include <gtest/gtest.h>

namespace qq::dialects::openai_responses {
namespace {

TEST(ResponsesHistory, TheConversationStandsInFrontOfTheNewInput) {
  const StoredResponse stored{
      R"([{"type":"message","role":"user","content":"one"}])",
      R"([{"id":"rs_1","type":"reasoning","summary":[]},{"id":"msg_1","type":"message","role":"assistant","content":[],"created_by":"x"}])"};
  const auto whole = with_history(
      R"({"model":"m","previous_response_id":"resp_1","instructions":"new","input":"two","store":true})",
      stored);
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      *whole,
      R"({"model":"m","instructions":"new","store":true,"input":[{"type":"message","role":"user","content":"one"},)"
      R"({"id":"msg_1","type":"message","role":"assistant","content":[]},)"
      R"({"type":"message","role":"user","content":"two"}]})");
  const auto next = input_items(*whole);
  ASSERT_TRUE(next);
  EXPECT_EQ(std::count(next->begin(), next->end(), '{'), 3)
      << "what is stored with the next answer is all of it";
}

TEST(ResponsesHistory, ReferencesAreOfWhatStandsThere) {
  const StoredResponse stored{
      "[]", R"([{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}])"};
  const auto whole = with_history(
      R"({"input":[{"type":"item_reference","id":"fc_1"},{"id":"fc_1"},{"type":"function_call_output","call_id":"c","output":"x"}]})",
      stored);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(*whole,
            R"({"input":[{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
            R"({"type":"function_call_output","call_id":"c","output":"x"}]})");
  const auto unknown = with_history(R"({"input":[{"type":"item_reference","id":"fc_2"}]})", stored);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().param, "input[0].id");
}

TEST(ResponsesHistory, WhatIsNoRequestIsRefused) {
  EXPECT_FALSE(input_items("{"));
  EXPECT_FALSE(input_items("[]"));
  EXPECT_FALSE(input_items(R"({"input":1})"));
  EXPECT_FALSE(with_history(R"({"input":"a","input":"b"})", {"[]", "[]"}));
  EXPECT_EQ(*input_items(R"({"model":"m"})"), "[]");
}

}  // namespace
}  // namespace qq::dialects::openai_responses
