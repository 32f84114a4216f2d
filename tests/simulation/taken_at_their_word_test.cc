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

// ---- usage

std::string usage(std::string_view prompt, std::string_view completion) {
  return fmt::format(R"(,"usage":{{"prompt_tokens":{},"completion_tokens":{}}})", prompt, completion);
}

model::Usage used(std::string events, std::size_t missing = 0) {
  World world(scripted_setup());
  const ScriptedAnswers answers(world, ScriptedAnswers::stream(events, missing));
  const Exchange heard = world.ask(chat("alone").streamed());
  EXPECT_EQ(heard.story(), missing == 0 ? "success" : "stream_cut");
  world.run_for(1s);
  world.expect_rest();
  return heard.record ? heard.record->usage : model::Usage{};
}

TEST(ToldUsage, IsNotTakenBackByAnEndOfZeros) {
  const model::Usage told = used(chunk(0, "word", false, usage("11", "5.0")) +
                                 chunk(0, "", true, usage("0", "0")) + "data: [DONE]\n\n");
  EXPECT_EQ(told.input_uncached, 11);
  EXPECT_EQ(told.output_text, 5);
}

TEST(ToldUsage, CountsThoughTheStreamBreaksBehindItsLine) {
  std::string last = chunk(0, "more", false, usage("11", "7"));
  last.pop_back();  // the empty line
  const model::Usage told = used(chunk(0, "word", false) + last, 100);
  EXPECT_EQ(told.input_uncached, 11);
  EXPECT_EQ(told.output_text, 7);
  last.resize(last.size() - 3);  // inside its JSON
  EXPECT_EQ(used(chunk(0, "word", false) + last, 100).source, model::UsageSource::None);
}

// ---- words

constexpr std::string_view kCredential = "sk-upstream-0123456789";

TEST(FreeText, OfAProviderShowsNoCredential) {
  for (const bool streamed : {false, true}) {
    for (const std::string_view word :
         {std::string_view(kCredential), std::string_view("SK-UPSTREAM-0123456789"),
          std::string_view("any words that it likes")}) {
      WorldSetup setup = scripted_setup();
      setup.accounts = fmt::format("[{{name: main, credential: {}}}]", kCredential);
      World world(std::move(setup));
      const std::string whole = ScriptedAnswers::whole(
          fmt::format(
              R"({{"model":"sim-gpt","choices":[{{"index":0,"message":{{"content":"well"}},"finish_reason":"{}"}}]}})",
              word),
          fmt::format("openai-version: {}\r\nopenai-processing-ms: {}\r\n", word, std::string(5'000, '1')));
      std::string events = chunk(0, "word", true);
      events.replace(events.find("\"stop\""), 6, fmt::format("\"{}\"", word));
      const ScriptedAnswers answers(world,
                                    streamed ? ScriptedAnswers::stream(events + "data: [DONE]\n\n") : whole);
      const Exchange heard = world.ask(streamed ? chat("alone").streamed() : chat("alone"));
      EXPECT_EQ(heard.story(), "success");
      EXPECT_EQ(heard.record->finish_reason, "other");
      if (word.contains('-')) EXPECT_FALSE(heard.reply.header("openai-version"));
      EXPECT_FALSE(heard.reply.header("openai-processing-ms"));
      world.run_for(1s);
      world.expect_rest();
    }
  }
}

TEST(FreeText, ThatIsHarmlessGoesOn) {
  World world(scripted_setup());
  const ScriptedAnswers answers(
      world,
      ScriptedAnswers::whole(
          R"({"model":"sim-gpt","choices":[{"index":0,"message":{"content":"well"},"finish_reason":"tool_calls"}]})",
          "openai-version: 2020-10-01\r\nopenai-processing-ms: 312\r\n"));
  const Exchange heard = world.ask(chat("alone"));
  EXPECT_EQ(heard.record->finish_reason, "tool_calls");
  EXPECT_EQ(heard.reply.header("openai-version"), "2020-10-01");
  EXPECT_EQ(heard.reply.header("openai-processing-ms"), "312");
  world.run_for(1s);
  world.expect_rest();
}

TEST(Status, GoesOnWithItsName) {
  World world(scripted_setup());
  std::string answer = ScriptedAnswers::whole(
      R"({"model":"sim-gpt","choices":[{"index":0,"message":{"content":"well"},"finish_reason":"stop"}]})");
  answer.replace(9, 6, "203 Whatever");
  const ScriptedAnswers answers(world, answer);
  EXPECT_TRUE(world.ask(chat("alone")).raw.starts_with("HTTP/1.1 203 Non-Authoritative Information\r\n"));
  world.run_for(1s);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::their_word
