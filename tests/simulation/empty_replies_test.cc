// Answers with nothing in them: tried elsewhere, counted, and evidence only where no caller can have asked
// for them.
#include "simulation/scripted_answers.h"

namespace qq::simulation::empty_replies {
namespace {

constexpr std::string_view kUsage = R"("usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18})";

std::string whole(std::string_view content) {
  return ScriptedAnswers::whole(fmt::format(
      R"({{"id":"1","object":"chat.completion","model":"sim-gpt","choices":[{{"index":0,"message":{{"role":"assistant","content":"{}"}},"finish_reason":"stop"}}],{}}})",
      content, kUsage));
}
std::string stream(std::string_view content) {
  return ScriptedAnswers::stream(fmt::format(
      "data: "
      "{{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"sim-gpt\",\"choices\":[{{\"index\":0,"
      "\"delta\":{{\"role\":\"assistant\",\"content\":\"{}\"}},\"finish_reason\":null}}]}}\n\n"
      "data: "
      "{{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"sim-gpt\",\"choices\":[{{\"index\":0,"
      "\"delta\":{{}},\"finish_reason\":\"stop\"}}],{}}}\n\ndata: [DONE]\n\n",
      content, kUsage));
}

Ask with(Ask ask, std::string_view member) {
  if (!member.empty()) ask.body.insert(ask.body.size() - 1, fmt::format(",{}", member));
  return ask;
}

struct Case {
  std::string name;
  std::string member;   // of the request
  std::string content;  // of the answer
  bool counts;
};
const std::vector<Case> kCases = {
    {"nothing", "", "", true},
    {"no_stop_strings", R"("stop":null)", "", true},
    {"empty_list_of_stop_strings", R"("stop":[])", "", true},
    {"stop_string", R"("stop":"T")", "", false},
    {"stop_strings", R"("stop":["T","a"])", "", false},
    {"white_space", "", R"(\n \n)", false},
};

class EmptyReply : public ::testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(EmptyReply, CountsAgainstTheTargetOnlyIfNoCallerCanHaveAskedForIt) {
  const auto& [empty, streamed] = GetParam();
  World world(scripted_setup());
  const ScriptedAnswers answers(world, streamed ? stream(empty.content) : whole(empty.content));
  const Ask ask = with(streamed ? chat("backed").streamed() : chat("backed"), empty.member);
  for (int i = 0; i < 8; ++i) {
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 200);
    EXPECT_EQ(heard.story(), empty.counts && i >= 5 ? "refused,success" : "empty_reply,success") << i;
  }
  EXPECT_EQ(world.health(0).state(),
            empty.counts ? resilience::CircuitState::Open : resilience::CircuitState::Closed);
  world.run_for(1s);
  world.expect_rest();
}

// Whoever bills them: what an attempt used is its own, and no other's.
TEST_P(EmptyReply, LeavesItsTokensWithTheAttemptThatUsedThem) {
  const auto& [empty, streamed] = GetParam();
  World world(scripted_setup());
  const ScriptedAnswers answers(world, streamed ? stream(empty.content) : whole(empty.content));
  world.provider(1).misbehave("fault=usage_missing");
  const Exchange heard = world.ask(with(streamed ? chat("backed").streamed() : chat("backed"), empty.member));
  ASSERT_EQ(heard.story(), "empty_reply,success");
  EXPECT_EQ(heard.attempts()[0].usage.input_uncached, 11);
  EXPECT_EQ(heard.attempts()[0].usage.output_text, 7);
  EXPECT_EQ(heard.attempts()[1].usage.source, model::UsageSource::None);
  EXPECT_EQ(heard.record->usage.source, model::UsageSource::None) << "of the target that answered";
  EXPECT_EQ(world.observer().metrics.tokens[0].get(), 11);
  EXPECT_EQ(world.observer().metrics.tokens[3].get(), 7);
  world.run_for(1s);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, EmptyReply,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) ? "_stream" : "_whole");
                         });

TEST(FailedResponse, IsCountedWithWhatItUsed) {
  World world(scripted_setup());
  const ScriptedAnswers answers(
      world,
      ScriptedAnswers::whole(
          R"({"id":"r","object":"response","status":"failed","model":"sim-gpt","output":[],"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}})"));
  const Exchange heard = world.ask(responses("backed"));
  ASSERT_EQ(heard.story(), "stream_error,success");
  EXPECT_EQ(heard.attempts()[0].usage.output_text, 7);
  EXPECT_EQ(heard.record->usage.output_text, heard.attempts()[1].usage.output_text);
  EXPECT_EQ(heard.record->finish_reason, "completed");
  world.run_for(1s);
  world.expect_rest();
}

// The first target said one; the second is cut before its own.
TEST(FinishReason, IsOfTheTargetThatAnswered) {
  World world(scripted_setup());
  const ScriptedAnswers answers(world, stream(""));
  world.provider(1).misbehave("fault=close_mid_body");
  const Exchange heard = world.ask(chat("backed").streamed());
  ASSERT_EQ(heard.story(), "empty_reply,stream_cut");
  EXPECT_EQ(heard.record->finish_reason, "");
  world.run_for(1s);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::empty_replies
