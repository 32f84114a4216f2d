// Faults after the client was given content: what was delivered stays, then exactly one error event in the
// client's dialect, no [DONE], no other target.
#include "simulation/fault_case.h"
#include "wire/json.h"

namespace qq::simulation::faults_mid_stream {
namespace {

struct Case {
  std::string name;
  std::string directives;
  std::string kind;
  std::string code;      // in the event; empty: the provider's own
  Milliseconds wait{0};  // from the last event to the error
};

// The fault strikes before event 5 of the stream. Events come 20 ms apart, so that each is an arrival.
const std::vector<Case> kCases = {
    {"fin", "fault=close_mid_body; at=5", "stream_cut", "upstream_stream_cut"},
    {"reset", "fault=reset_mid_body; at=5", "stream_cut", "upstream_stream_cut"},
    {"stall", "fault=stall_mid_body; at=5", "event_gap_timeout", "upstream_event_gap_timeout", 60s},
    {"stall_after_content", "fault=stall_after_content; at=5", "event_gap_timeout",
     "upstream_event_gap_timeout", 60s},
    {"error_event", "fault=error_middle; at=5", "stream_error", ""},
    {"bad_chunk", "fault=bad_chunk; at=5", "bad_frame", "upstream_bad_frame"},
};

struct Param {
  Case fault;
  Mode mode;
};

std::size_t occurrences(std::string_view text, std::string_view of) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(of, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

class FaultMidStream : public ::testing::TestWithParam<Param> {};

TEST_P(FaultMidStream, KeepsWhatWasDeliveredAndSaysThatItBroke) {
  const auto& [fault, mode] = GetParam();
  const std::string whole = whole_answer(mode, "alone", "backed");
  World world;
  world.provider(0).misbehave("gap=20; " + fault.directives);
  for (int i = 0; i < 5; ++i) {
    Client& client = world.client();
    client.start(mode.ask("backed").bytes());
    world.run_until_end(client);
    world.run_for(100ms);
    const HttpReply& reply = client.reply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.complete) << "the error event is the proper end of the body";
    EXPECT_EQ(reply.body.find("[DONE]"), std::string::npos);
    const std::size_t error_at = reply.body.find(mode.responses ? "event: error\n" : "data: {\"error\":");
    ASSERT_NE(error_at, std::string::npos) << reply.body;
    const std::string before = replaced_all(reply.body.substr(0, error_at), ": keep-alive\n\n", "");
    EXPECT_TRUE(whole.starts_with(before)) << reply.body;
    EXPECT_GT(error_at, 0U);
    std::string event = told_error(mode, reply.body, error_at);
    event = event.substr(event.find("data: ") + 6);
    EXPECT_TRUE(event.ends_with("}\n\n")) << "nothing behind the error";
    EXPECT_EQ(event.find('\n'), event.size() - 2) << "one event";
    if (!fault.code.empty()) EXPECT_EQ(error_code_in(event), fault.code);
    const std::string tail = before.substr(before.size() - 30);
    const auto last_content = client.time_of(tail, occurrences(before, tail) - 1);
    const auto error_time = client.time_of(reply.body.substr(error_at, 20));
    ASSERT_TRUE(last_content && error_time);
    if (fault.wait > 0ms) EXPECT_EQ(*error_time - *last_content, fault.wait);

    const KeptRecord& record = world.records().back();
    EXPECT_EQ(record.status, 200);
    EXPECT_TRUE(record.interrupted);
    ASSERT_TRUE(record.error);
    EXPECT_EQ(to_string(record.error->kind), fault.kind);
    ASSERT_EQ(record.attempts.size(), 1U);
    EXPECT_EQ(record.attempts[0].outcome, model::Outcome::Failure);
    EXPECT_TRUE(record.attempts[0].delivered);
    EXPECT_TRUE(record.first_content);
  }
  EXPECT_EQ(world.observer().metrics.streams_interrupted.get(), 5);
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Open) << "a cut stream is evidence";
  EXPECT_EQ(world.provider(1).seen().total(), 0U) << "never a second answer behind the first";
  world.expect_rest();
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (const Case& fault : kCases) {
    for (const Mode mode : modes_of(Modes::Streamed)) out.push_back({fault, mode});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, FaultMidStream, ::testing::ValuesIn(params()), [](const auto& info) {
  return info.param.fault.name + "_" + info.param.mode.name();
});

TEST(FaultMidStreamEnds, AnErrorBehindTheFinishReasonIsToldToo) {
  World world;
  world.provider(0).misbehave("fault=error_last");
  const Exchange heard = world.ask(chat("alone").streamed());
  EXPECT_NE(heard.reply.body.find("\"finish_reason\":\"stop\""), std::string::npos);
  EXPECT_NE(heard.reply.body.find("data: {\"error\":"), std::string::npos);
  EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
  EXPECT_TRUE(heard.record->interrupted);
  world.expect_rest();
}

TEST(FaultMidStreamEnds, AnEventThatIsNoJsonReachesNobody) {
  World world;
  world.provider(0).misbehave("fault=truncated_json; at=5");
  for (const Mode mode : modes_of(Modes::Streamed)) {
    const Exchange heard = world.ask(mode.ask("alone"));
    EXPECT_EQ(heard.reply.status, 200);
    EXPECT_TRUE(heard.record->interrupted);
    EXPECT_EQ(heard.story(), "bad_json");
    const std::string_view body = heard.reply.body;
    for (std::size_t at = body.find("data: "); at != std::string_view::npos;
         at = body.find("\ndata: ", at + 1)) {
      at = body.find('{', at);
      const std::string_view data = body.substr(at, body.find('\n', at) - at);
      EXPECT_FALSE(wire::check_json(data)) << data;
    }
    EXPECT_NE(heard.reply.body.find("upstream_bad_json"), std::string::npos) << heard.reply.body;
  }
  world.expect_rest();
}

TEST(FaultMidStreamEnds, NoFinishReasonIsATruncation) {
  World world;
  world.provider(0).misbehave("fault=no_finish");
  const Exchange heard = world.ask(chat("alone").streamed());
  EXPECT_EQ(heard.story(), "stream_cut");
  EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
  EXPECT_NE(heard.reply.body.find("upstream_stream_cut"), std::string::npos);
  world.expect_rest();
}

TEST(FaultMidStreamEnds, ATooLargeAnswerThatIsCutIsNotCompletedForTheClient) {
  for (const std::string fault : {"close_mid_body", "reset_mid_body", "stall_mid_body", "length_too_long"}) {
    WorldSetup setup;
    setup.limits = "{held_answer_max: 1KiB}";
    World world(std::move(setup));
    world.provider(0).misbehave("fault=" + fault + "; words=2000; rate=1000000");
    const Exchange heard = world.ask(chat("backed"));
    EXPECT_EQ(heard.reply.status, 200) << fault;
    EXPECT_FALSE(heard.reply.complete) << fault;
    EXPECT_TRUE(heard.closed || heard.reset) << fault;
    EXPECT_EQ(heard.reached(), 1) << fault;
    EXPECT_TRUE(heard.record->error) << fault;
    EXPECT_EQ(world.provider(1).seen().total(), 0U) << fault;
    world.expect_rest();
  }
}

}  // namespace
}  // namespace qq::simulation::faults_mid_stream
