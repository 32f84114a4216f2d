// What providers say of their own answers, and how far it is believed: that all choices are there, what they
// used, why they ended.
#include "simulation/scripted_answers.h"

namespace qq::simulation::their_word {
namespace {

std::string chunk(int choice, std::string_view content, bool finished, std::string_view more = {}) {
  return fmt::format(
      "data: "
      "{{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"sim-gpt\",\"choices\":[{{\"index\":{},"
      "\"delta\":{{\"content\":\"{}\"}},\"finish_reason\":{}}}]{}}}\n\n",
      choice, content, finished ? "\"stop\"" : "null", more);
}
std::string chunks(int choices) {
  std::string out;
  for (int i = 0; i < choices; ++i) out += chunk(i, "word", false) + chunk(i, "", true);
  return out;
}

Ask asking_for(int choices) {
  Ask ask = chat("alone").streamed();
  ask.body.insert(ask.body.size() - 1, fmt::format(R"(,"n":{})", choices));
  return ask;
}

struct Case {
  std::string name;
  int asked;
  std::string events;
  bool complete;
};
const std::vector<Case> kCases = {
    {"one", 1, chunks(1), true},
    {"both", 2, chunks(2), true},
    {"one_of_two", 2, chunks(1), false},
    {"one_of_two_and_done", 2, chunks(1) + "data: [DONE]\n\n", true},
    {"one_that_was_asked_for_and_another_begun", 1, chunks(1) + chunk(1, "word", false), false},
    {"the_last_of_forty_begun_only", 40, chunks(39) + chunk(39, "word", false), false},
    {"two_of_the_last_begun_only", 40, chunks(38) + chunk(38, "word", false) + chunk(39, "word", true),
     false},
    {"thirty_nine_of_forty", 40, chunks(39), false},
    {"forty", 40, chunks(40), true},
    {"two_hundred", 200, chunks(200), true},
    {"all_but_one_of_two_hundred", 200, chunks(199), false},
};

class Choices : public ::testing::TestWithParam<Case> {};

TEST_P(Choices, AreAllThereOrTheStreamWasCut) {
  const Case& one = GetParam();
  World world(scripted_setup());
  const ScriptedAnswers answers(world, ScriptedAnswers::stream(one.events));
  const Exchange heard = world.ask(asking_for(one.asked));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), one.complete ? "success" : "stream_cut");
  EXPECT_EQ(heard.record->interrupted, !one.complete);
  EXPECT_EQ(heard.reply.body.contains("upstream_stream_cut"), !one.complete) << heard.reply.body;
  world.run_for(1s);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, Choices, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace qq::simulation::their_word
