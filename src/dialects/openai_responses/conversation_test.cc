#include "dialects/openai_responses/conversation.h"

#include <gtest/gtest.h>

namespace qq::dialects::openai_responses {
namespace {

TEST(ConversationBody, HoldsItemsAndMetadata) {
  const auto read = read_conversation(
      R"({"metadata":{"a":"b"},"items":[{"role":"user","content":"x"},{"type":"web_search_call","id":"ws_1"}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata, R"({"a":"b"})");
  EXPECT_TRUE(read->items.is_array());
  for (const std::string_view nothing : {"", " \n", "{}", R"({"items":null,"metadata":null})"}) {
    const auto empty = read_conversation(nothing);
    ASSERT_TRUE(empty) << nothing;
    EXPECT_EQ(empty->metadata, "{}");
    EXPECT_FALSE(empty->items.is_array());
  }
}

TEST(ConversationBody, ABrokenItemIsRefusedByItsPlace) {
  struct Case {
    std::string_view body;
    std::string_view param;
  };
  constexpr Case kCases[] = {
      {R"({"items":[{}]})", "items[0].type"},
      {R"({"items":[{"role":"user","content":"x"},1]})", "items[1]"},
      {R"({"items":[null]})", "items[0]"},
      {R"({"items":[{"role":"nobody","content":"x"}]})", "items[0].role"},
      {R"({"items":[{"role":"user","content":[{"type":"input_text"}]}]})", "items[0].content[0].text"},
      {R"({"items":[{"type":"function_call","name":"f","arguments":"{}"}]})", "items[0].call_id"},
      {R"({"items":{}})", "items"},
      {R"({"metadata":[]})", "metadata"},
      {R"({"items":[],"items":[{}]})", "items"},
      {R"({"\u0069tems":[]})", "items"},
      {R"([])", ""},
      {R"({"items":)", ""},
  };
  for (const Case& each : kCases) {
    const auto read = read_conversation(each.body);
    ASSERT_FALSE(read) << each.body;
    EXPECT_EQ(read.error().kind, ErrorKind::InvalidRequest);
    EXPECT_EQ(read.error().param, each.param) << each.body;
  }
}

}  // namespace
}  // namespace qq::dialects::openai_responses
