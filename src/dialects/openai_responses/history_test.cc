#include "dialects/openai_responses/history.h"

#include <gtest/gtest.h>

namespace qq::dialects::openai_responses {
namespace {

using wire::JsonValue;

JsonValue member(std::string_view object, std::string_view key) {
  return JsonValue(object).member(key).value_or(JsonValue());
}

StateMembers members_of(std::string_view body) {
  return {.input = member(body, "input"),
          .include = member(body, "include"),
          .store = member(body, "store"),
          .background = member(body, "background"),
          .reasoning = member(body, "reasoning"),
          .previous_response_id = member(body, "previous_response_id"),
          .conversation = member(body, "conversation")};
}

Result<Whole> whole_of(std::string_view body, const Exchange& past, const FoundItems& found = {}) {
  return with_history(JsonValue(body), member(body, "input"), past, found);
}

TEST(ResponsesHistory, TheConversationStandsInFrontOfTheNewInput) {
  const Exchange stored{
      R"([{"type":"message","role":"user","content":"one"}])",
      R"([{"id":"msg_1","type":"message","role":"assistant","content":[],"created_by":"x"}])"};
  const auto whole = whole_of(
      R"({"model":"m","previous_response_id":"resp_1","instructions":"new","input":"two","store":true})",
      stored);
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      whole->body,
      R"({"model":"m","instructions":"new","store":true,"input":[{"type":"message","role":"user","content":"one"},)"
      R"({"id":"msg_1","type":"message","role":"assistant","content":[]},)"
      R"({"type":"message","role":"user","content":"two"}]})");
  EXPECT_EQ(whole->past_items, 2U);
  const JsonValue input = member(whole->body, "input");
  EXPECT_EQ(*input_items(input), input.text()) << "what is stored with the next answer is all of it";
  EXPECT_EQ(*input_items(input, whole->past_items), R"([{"type":"message","role":"user","content":"two"}])")
      << "and what a conversation gets is the client's own";
}

TEST(ResponsesHistory, WithAThoughtThatNobodyKnowsGoTheIdsOfItsTurn) {
  const Exchange stored{
      R"([{"role":"user","content":"one"},)"
      R"({"id":"rs_1","type":"reasoning","summary":[]},{"type":"function_call","id":"fc_1","call_id":"c"},)"
      R"({"type":"function_call_output","call_id":"c","output":"x"}])",
      R"([{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"e"},{"id":"msg_2","type":"message"}])"};
  const auto whole = whole_of(R"({"input":[]})", stored);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->body,
            R"({"input":[{"role":"user","content":"one"},{"type":"function_call","call_id":"c"},)"
            R"({"type":"function_call_output","call_id":"c","output":"x"},)"
            R"({"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"e"},)"
            R"({"id":"msg_2","type":"message"}]})")
      << "another turn keeps both";
  EXPECT_EQ(whole->past_items, 5U);
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
  const auto whole = whole_of(R"({"model":"m","input":)" + input + "]}", {stored + "]", "[]"});
  ASSERT_TRUE(whole) << whole.error().message;
}

TEST(ResponsesHistory, ReferencesAreOfWhatStandsThere) {
  const Exchange stored{
      "[]", R"([{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}])"};
  const auto whole = whole_of(
      R"({"input":[{"type":"item_reference","id":"fc_1"},{"type":"function_call_output","call_id":"c","output":"x"}]})",
      stored);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->body,
            R"({"input":[{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
            R"({"type":"function_call_output","call_id":"c","output":"x"}]})");
  const auto unknown = whole_of(R"({"input":[{"type":"item_reference","id":"fc_2"}]})", stored);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().param, "input[0].id");
  EXPECT_EQ(unknown.error().kind, ErrorKind::NotFound);
}

TEST(ResponsesHistory, WhatIsNamedTakesItsNamesPlace) {
  const std::string_view body =
      R"({"input":[{"role":"user","content":"a"},{"type":"item_reference","id":"rs_1"},{"id":"fc_1"},)"
      R"({"type":"reasoning","id":"rs_2","summary":[]},{"type":"reasoning","id":"rs_3","summary":[]}]})";
  const auto names = named_items(member(body, "input"));
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), 4U);
  EXPECT_EQ((*names)[0].id, "rs_1");
  EXPECT_EQ((*names)[1].id, "fc_1");
  EXPECT_TRUE((*names)[1].must_be_found);
  EXPECT_FALSE((*names)[3].must_be_found) << "a thought can be done without";
  FoundItems found;
  find_items(
      R"({"output":[{"id":"rs_1","type":"reasoning","encrypted_content":"e"},{"id":"fc_1","type":"function_call"},{"id":"x"}]})",
      *names, found);
  find_items(R"({"output":[{"id":"rs_2","type":"reasoning","encrypted_content":"f"}]})", *names, found);
  EXPECT_EQ(found.size(), 3U) << "of what an answer has only what was named";
  EXPECT_EQ(
      whole_of(body, {}, found)->body,
      R"({"input":[{"role":"user","content":"a"},{"id":"rs_1","type":"reasoning","encrypted_content":"e"},)"
      R"({"id":"fc_1","type":"function_call"},{"id":"rs_2","type":"reasoning","encrypted_content":"f"},)"
      R"({"type":"reasoning","id":"rs_3","summary":[]}]})");
  EXPECT_FALSE(named_items(JsonValue(R"([{"id":"a"},{"type":"item_reference","id":"a"}])")));
  EXPECT_TRUE(named_items(JsonValue("\"text\""))->empty());
  EXPECT_EQ(output_ids(R"({"output":[{"id":"a"},{"id":""},{},{"id":"b"}]})"),
            (std::vector<std::string>{"a", "b"}));
}

TEST(ResponsesHistory, OnlySoManyItemsMayBeNamed) {
  const auto naming = [](std::size_t count) {
    std::string input = "[{\"role\":\"user\",\"content\":\"a\"}";
    for (std::size_t i = 0; i < count; ++i)
      input += R"(,{"type":"item_reference","id":"msg_)" + std::to_string(i) + "\"}";
    return input + "]";
  };
  const std::string most = naming(kNamedItemsMax);
  const auto taken = named_items(JsonValue(most));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->size(), kNamedItemsMax);
  const std::string more = naming(kNamedItemsMax + 1);
  const auto refused = named_items(JsonValue(more));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::InvalidRequest);
  EXPECT_EQ(refused.error().param, "input[1001].id");
}

TEST(ResponsesHistory, ARequestSaysWhatItContinuesAndWhetherToKeepIt) {
  const auto wanted = [](std::string_view body) { return state_wanted(members_of(body)); };
  const auto plain = wanted(R"({"input":"a"})");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->store) << "as OpenAI does unless told otherwise";
  EXPECT_TRUE(plain->previous_response_id.empty());
  const auto next = wanted(R"({"previous_response_id":"resp_1","conversation":null,"store":false})");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->previous_response_id, "resp_1");
  EXPECT_FALSE(next->store);
  EXPECT_TRUE(wanted(R"({"store":null})")->store);
  EXPECT_EQ(wanted(R"({"conversation":"conv_1"})")->conversation, "conv_1");
  EXPECT_EQ(wanted(R"({"conversation":{"id":"conv_1"}})")->conversation, "conv_1");
  EXPECT_FALSE(wanted(R"({"conversation":1})"));
  EXPECT_FALSE(wanted(R"({"store":"yes"})"));
  const auto both = wanted(R"({"conversation":"conv_1","previous_response_id":"resp_1"})");
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
  EXPECT_EQ(whole_of(R"({"previous_response_id":"resp_1","input":"b"})", *past)->body,
            R"({"input":[{"content":"a"},{"id":"msg_1"},)"
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
  const std::string items = "[" + (*turn)[0].json + "," + (*turn)[2].json + "]";
  EXPECT_EQ(
      whole_of(R"({"conversation":"conv_1","input":[{"type":"item_reference","id":"qq_item_resp_1_0"}]})",
               {items, "[]"})
          ->body,
      R"({"input":[{"role":"user","content":"a"},{"id":"msg_1","type":"message"}]})")
      << "no provider sees them, and a client may refer to them";
}

TEST(ResponsesHistory, WhatIsNoInputIsRefused) {
  EXPECT_FALSE(input_items(JsonValue("1")));
  EXPECT_FALSE(whole_of(R"({"input":1})", {}));
  EXPECT_EQ(*input_items(JsonValue()), "[]");
  EXPECT_EQ(*input_items(JsonValue("null")), "[]");
  EXPECT_EQ(whole_of(R"({"model":"m"})", {})->body, R"({"model":"m","input":[]})");
}

}  // namespace
}  // namespace qq::dialects::openai_responses
