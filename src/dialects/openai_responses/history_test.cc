#include "dialects/openai_responses/history.h"

#include <gtest/gtest.h>

namespace qq::dialects::openai_responses {
namespace {

TEST(ResponsesHistory, TheConversationStandsInFrontOfTheNewInput) {
  const Exchange stored{
      R"([{"type":"message","role":"user","content":"one"}])",
      R"([{"id":"rs_1","type":"reasoning","summary":[]},{"id":"msg_1","type":"message","role":"assistant","content":[],"created_by":"x"}])"};
  const auto whole = with_history(
      R"({"model":"m","previous_response_id":"resp_1","instructions":"new","input":"two","store":true})",
      stored);
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      *whole,
      R"({"model":"m","instructions":"new","store":false,"input":[{"type":"message","role":"user","content":"one"},)"
      R"({"id":"msg_1","type":"message","role":"assistant","content":[]},)"
      R"({"type":"message","role":"user","content":"two"}]})");
  const auto next = input_items(*whole);
  ASSERT_TRUE(next);
  EXPECT_EQ(std::count(next->begin(), next->end(), '{'), 3)
      << "what is stored with the next answer is all of it";
}

// Each reference that is looked for in the text of the conversation would make this last for minutes.
TEST(ResponsesHistory, ManyReferencesToMuchAreFound) {
  constexpr int kMany = 100'000;
  std::string stored = "[";
  std::string input = "[";
  for (int i = 0; i < kMany; ++i) {
    stored += (i > 0 ? ",{\"id\":\"msg_" : "{\"id\":\"msg_") + std::to_string(i) + "\"}";
    input += (i > 0 ? ",{\"type\":\"item_reference\",\"id\":\"msg_"
                    : "{\"type\":\"item_reference\",\"id\":\"msg_") +
             std::to_string(kMany - 1 - i) + "\"}";
  }
  const auto whole = with_history(R"({"model":"m","input":)" + input + "]}", {stored + "]", "[]"});
  ASSERT_TRUE(whole) << whole.error().message;
}

TEST(ResponsesHistory, ReferencesAreOfWhatStandsThere) {
  const Exchange stored{
      "[]", R"([{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}])"};
  const auto whole = with_history(
      R"({"input":[{"type":"item_reference","id":"fc_1"},{"id":"fc_1"},{"type":"function_call_output","call_id":"c","output":"x"}]})",
      stored);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(
      *whole,
      R"({"store":false,"input":[{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c","output":"x"}]})");
  const auto unknown = with_history(R"({"input":[{"type":"item_reference","id":"fc_2"}]})", stored);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().param, "input[0].id");
}

TEST(ResponsesHistory, ARequestSaysWhatItContinuesAndWhetherToKeepIt) {
  const auto plain = state_wanted(R"({"input":"a"})");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->store) << "as OpenAI does unless told otherwise";
  EXPECT_TRUE(plain->previous_response_id.empty());
  const auto next = state_wanted(R"({"previous_response_id":"resp_1","conversation":null,"store":false})");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->previous_response_id, "resp_1");
  EXPECT_FALSE(next->store);
  EXPECT_EQ(state_wanted(R"({"conversation":"conv_1"})")->conversation, "conv_1");
  EXPECT_EQ(state_wanted(R"({"conversation":{"id":"conv_1"}})")->conversation, "conv_1");
  EXPECT_FALSE(state_wanted(R"({"conversation":1})"));
  EXPECT_FALSE(state_wanted(R"({"store":"yes"})"));
  const auto both = state_wanted(R"({"conversation":"conv_1","previous_response_id":"resp_1"})");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().kind, ErrorKind::InvalidRequest);
}

TEST(ResponsesHistory, AnAnswerThatWasKeptGoesOn) {
  const StateWanted wanted{"resp_0", "", true};
  const auto told = as_kept(
      R"({"id":"resp_1","store":false,"previous_response_id":null,"model":"m","created_at":5,"output":[{"id":"msg_1"}],"x":1})",
      wanted);
  ASSERT_TRUE(told);
  EXPECT_EQ(
      *told,
      R"({"id":"resp_1","model":"m","created_at":5,"output":[{"id":"msg_1"}],"x":1,"store":true,"previous_response_id":"resp_0"})");
  const auto kept = kept_answer(*told);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->id, "resp_1");
  EXPECT_EQ(kept->model, "m");
  EXPECT_EQ(kept->created_unix, 5);
  const auto past = exchange_of("[{\"content\":\"a\"}]", *told);
  ASSERT_TRUE(past);
  EXPECT_EQ(*with_history(R"({"previous_response_id":"resp_1","input":"b"})", *past),
            R"({"store":false,"input":[{"content":"a"},{"id":"msg_1"},)"
            R"({"type":"message","role":"user","content":"b"}]})");
  EXPECT_FALSE(exchange_of("{}", *told));
  EXPECT_FALSE(exchange_of("[]", "x"));
  EXPECT_FALSE(kept_answer(R"({"model":"m"})"));
}

TEST(ResponsesHistory, AnAnswerSaysItsConversation) {
  const StateWanted wanted{"", "conv_1", true};
  EXPECT_EQ(*as_kept(R"({"id":"resp_1"})", wanted),
            R"({"id":"resp_1","store":true,"previous_response_id":null,"conversation":{"id":"conv_1"}})");
  EXPECT_FALSE(as_kept("[]", wanted));
}

TEST(ResponsesHistory, IdsMadeHereAreTheGatewaysOwn) {
  const auto turn = turn_items(
      R"([{"role":"user","content":"a"},{"id":null,"role":"user"},{"type":"item_reference","id":"x"}])",
      R"({"id":"resp_1","output":[{"id":"msg_1","type":"message"}]})", "resp_1");
  ASSERT_TRUE(turn);
  ASSERT_EQ(turn->size(), 3U);
  EXPECT_EQ((*turn)[0].json, R"({"id":"qq_item_resp_1_0","role":"user","content":"a"})");
  EXPECT_EQ((*turn)[1].json, R"({"id":"qq_item_resp_1_1","role":"user"})");
  EXPECT_EQ((*turn)[2].id, "msg_1");
  const Exchange past{"[" + (*turn)[0].json + "," + (*turn)[2].json + "]", "[]"};
  EXPECT_EQ(
      *with_history(
          R"({"conversation":"conv_1","input":[{"type":"item_reference","id":"qq_item_resp_1_0"}]})", past),
      R"({"store":false,"input":[{"role":"user","content":"a"},{"id":"msg_1","type":"message"}]})")
      << "no provider sees them, and a client may refer to them";
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
