// Whole answers too large to hold: they are streamed on, with the client's name of the model where it stands
// in the part that was held.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

Exchange asked_with(std::string_view limits, std::string_view directives) {
  WorldSetup setup;
  setup.limits = limits;
  World world(std::move(setup));
  world.provider(0).misbehave(directives);
  Exchange heard = world.ask(chat("alone"));
  world.expect_rest();
  return heard;
}

TEST(LargeAnswer, IsTheSameAsAHeldOne) {
  for (const std::string_view directives : {"words=2000; rate=100000", "words=2000; rate=100000; split=700",
                                            "words=9000; rate=9000; fault=gzip"}) {
    const Exchange held = asked_with("", directives);
    const Exchange streamed = asked_with("{held_answer_max: 1KiB}", directives);
    EXPECT_EQ(held.reply.header("content-length").has_value(), true);
    EXPECT_EQ(streamed.reply.header("content-length").has_value(), false) << "it was not held";
    EXPECT_EQ(streamed.story(), "success");
    EXPECT_TRUE(streamed.reply.complete);
    EXPECT_EQ(streamed.reply.body, held.reply.body);
    EXPECT_NE(streamed.reply.body.find("\"model\":\"alone\""), std::string::npos);
    EXPECT_EQ(streamed.record->usage.source, model::UsageSource::Provider);
    EXPECT_EQ(streamed.record->usage.output_text, held.record->usage.output_text);
  }
}

TEST(LargeAnswer, SaysWhatItIsOf) {
  const Exchange heard = asked_with("{held_answer_max: 1KiB}", "delay=30; words=2000; rate=100000");
  ASSERT_EQ(heard.attempts().size(), 1U);
  const auto took = std::chrono::duration_cast<Milliseconds>(*heard.attempts()[0].first_content -
                                                             heard.attempts()[0].started);
  EXPECT_GE(took, 30ms);
  EXPECT_EQ(heard.reply.header("x-queqiao-attempts"), fmt::format("m0 success {}ms", took.count()));
}

constexpr std::string_view kMessage =
    R"("choices":[{"index":0,"message":{"role":"assistant","content":"TEXT"},"finish_reason":"stop"}])";

std::string long_message() {
  return replaced_all(std::string(kMessage), "TEXT", std::string(300'000, 'x'));
}

// A provider that plays `body` as its whole answer.
Exchange asked_of_player(const std::string& body, std::string_view more = "") {
  simulator::Recording recording;
  recording.name = "large/played";
  recording.endpoint = "/v1/chat/completions";
  recording.method = "POST";
  recording.headers.push_back({"content-type", "application/json"});
  recording.body = body;
  std::vector<simulator::Recording> library;
  library.push_back(std::move(recording));
  WorldSetup setup;
  setup.limits = "{held_answer_max: 1KiB}";
  setup.simulator.library = simulator::Library(std::move(library));
  World world(std::move(setup));
  world.provider(0).misbehave("play=large/played" + std::string(more));
  Exchange heard = world.ask(chat("alone"));
  world.expect_rest();
  return heard;
}

TEST(LargeAnswer, KeepsANameThatStandsTooFarBehind) {
  const std::string body = "{" + long_message() + R"(,"model":"sim-gpt"})";
  const Exchange heard = asked_of_player(body);
  EXPECT_EQ(heard.story(), "success");
  EXPECT_EQ(heard.reply.body, body);
}

TEST(LargeAnswer, TellsItsUsageWhereverThatStands) {
  const std::string usage = R"("usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12})";
  for (const std::string& body :
       {"{" + usage + "," + long_message() + "}", "{" + long_message() + "," + usage + "}"}) {
    const Exchange heard = asked_of_player(body);
    EXPECT_EQ(heard.story(), "success");
    EXPECT_EQ(heard.record->usage.input_total(), 5);
    EXPECT_EQ(heard.record->usage.output_total(), 7);
  }
}

TEST(LargeAnswer, ThatSaysItsUsageWronglyHasNone) {
  const std::string text = R"({"t":")" + std::string(1U << 20U, 'x') + '"';
  for (const std::string& body :
       {text + R"(,"usage":{"prompt_tokens":01}})", text + R"(,"usage":{"prompt_tokens":1,"d":{"r":0})",
        text + R"(,"usage":null,"choices":[{"t":"a } b)"}) {
    EXPECT_EQ(asked_of_player(body).record->usage.source, model::UsageSource::None);
  }
}

void expect_interrupted(const Exchange& heard, std::string_view story) {
  EXPECT_EQ(heard.story(), story);
  EXPECT_EQ(heard.reply.status, 200) << "it had begun";
  EXPECT_FALSE(heard.reply.complete) << "no last chunk";
  EXPECT_TRUE(heard.closed || heard.reset);
  ASSERT_TRUE(heard.record.has_value());
  EXPECT_TRUE(heard.record->interrupted);
}

// Over a connection whose end is the body's end, nothing but the JSON tells that half of it is missing.
TEST(LargeAnswer, ThatIsCutIsInterrupted) {
  expect_interrupted(
      asked_with("{held_answer_max: 1KiB}", "words=2000; rate=100000; fault=http10; fault=truncated_json"),
      "body_cut");
  expect_interrupted(asked_with("{held_answer_max: 1KiB}", "words=2000; rate=100000; fault=truncated_json"),
                     "body_cut");
}

TEST(LargeAnswer, WithGarbageBehindItIsInterrupted) {
  expect_interrupted(asked_of_player("{" + long_message() + "}<html>Bad Gateway</html>"), "bad_json");
}

TEST(LargeAnswer, ThatIsNoJsonFromTheBeginningIsNoneAtAll) {
  const Exchange heard = asked_of_player("{<html>" + std::string(300'000, 'x'));
  EXPECT_EQ(heard.story().substr(0, 8), "bad_json");
  EXPECT_EQ(heard.reply.status, 502);
}

// The limit is ours, and a caller can have as many such answers as it likes.
TEST(LargeAnswer, ThatIsTooLargeToBeTranslatedIsNoEvidence) {
  WorldSetup setup;
  setup.limits = "{held_answer_max: 1KiB, event_max: 64KiB}";
  World world(std::move(setup));
  world.provider(0).misbehave("words=20000; rate=1000000");
  Ask ask = chat("alone");
  ask.path = "/v1/messages";
  ask.body =
      R"({"model":"alone","max_tokens":50000,"messages":[{"role":"user","content":"Tell me of rivers."}]})";
  for (int i = 0; i < 6; ++i) {
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.story(), "event_too_big");
    EXPECT_EQ(heard.reply.status, 502) << heard.reply.body;
  }
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
