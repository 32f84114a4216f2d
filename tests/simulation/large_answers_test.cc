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

TEST(LargeAnswer, KeepsANameThatStandsTooFarBehind) {
  simulator::Recording recording;
  recording.name = "large/late";
  recording.endpoint = "/v1/chat/completions";
  recording.method = "POST";
  recording.headers.push_back({"content-type", "application/json"});
  recording.body = fmt::format(
      R"({{"choices":[{{"index":0,"message":{{"role":"assistant","content":"{}"}},"finish_reason":"stop"}}],"model":"sim-gpt"}})",
      std::string(300'000, 'x'));
  const std::string body = recording.body;
  std::vector<simulator::Recording> library;
  library.push_back(std::move(recording));
  WorldSetup setup;
  setup.limits = "{held_answer_max: 1KiB}";
  setup.simulator.library = simulator::Library(std::move(library));
  World world(std::move(setup));
  world.provider(0).misbehave("play=large/late");
  const Exchange heard = world.ask(chat("alone"));
  EXPECT_EQ(heard.story(), "success");
  EXPECT_EQ(heard.reply.body, body);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
