#include "simulator/provider/realtime.h"

#include <gtest/gtest.h>

namespace qq::simulator {
namespace {

std::vector<std::string> types(const std::vector<RealtimeModel::Event>& events) {
  std::vector<std::string> types;
  for (const RealtimeModel::Event& event : events) {
    EXPECT_FALSE(wire::check_json(event.text)) << event.text;
    types.push_back(wire::JsonValue(event.text).member("type")->string());
  }
  return types;
}

TEST(RealtimeModelTest, GreetsAndTakesASession) {
  RealtimeModel model("sim", {});
  EXPECT_EQ(types(model.greeting()), std::vector<std::string>{"session.created"});
  const auto updated = model.answer(R"({"type":"session.update","session":{"output_modalities":["text"]}})");
  EXPECT_EQ(types(updated), std::vector<std::string>{"session.updated"});
  EXPECT_NE(updated[0].text.find(R"("output_modalities":["text"])"), std::string::npos);
  EXPECT_EQ(types(model.answer(R"({"type":"session.update","session":{"model":"other"}})")),
            std::vector<std::string>{"error"});
}

TEST(RealtimeModelTest, RespondsWithItsUsageAtTheEnd) {
  Script script;
  script.words = 2;
  script.cached = 1;
  RealtimeModel model("sim", script);
  model.answer(
      R"({"type":"conversation.item.create","item":{"content":[{"type":"input_text","text":"a b c"}]}})");
  const auto events = model.answer(R"({"type":"response.create","response":{"output_modalities":["text"]}})");
  EXPECT_EQ(types(events), (std::vector<std::string>{"response.created", "response.output_text.delta",
                                                     "response.output_text.delta", "response.done"}));
  const auto usage = wire::JsonValue(events.back().text).at("response", "usage");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->member("input_tokens")->integer(), 3);
  EXPECT_EQ(usage->member("output_tokens")->integer(), 2);
  EXPECT_EQ(usage->at("input_token_details", "cached_tokens")->integer(), 1);
}

TEST(RealtimeModelTest, SaysWhatItDoesNotUnderstand) {
  RealtimeModel model("sim", {});
  for (const std::string_view odd : {"{", "{}", R"({"type":"nothing","event_id":"e1"})"})
    EXPECT_EQ(types(model.answer(odd)), std::vector<std::string>{"error"});
}

}  // namespace
}  // namespace qq::simulator
