// Every timer, exact to the millisecond of virtual time.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation::timers {
namespace {

struct Case {
  std::string name;
  std::string timers;
  void (*arrange)(World& world);
  std::string kind;
  Milliseconds at{0};
  Modes modes = Modes::Both;
};

const std::vector<Case> kCases = {
    {"connect", "{connect: 700ms, heartbeat: 1h}",
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
     },
     "connect_timeout", 700ms},
    {"send_progress", "{send_progress: 900ms, heartbeat: 1h}",
     [](World& world) {
       net::SimulatedNetwork network;
       network.up.window = 100;
       world.loop().set_network(world.provider(0).address(), network);
       world.provider(0).scenario(R"({"connections":["stall"]})");
     },
     "send_timeout", 900ms},
    {"first_byte", "{first_byte: 1100ms, first_content: 1100ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); }, "first_byte_timeout",
     1'100ms},
    {"first_content", "{first_content: 1300ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("fault=stall_after_head"); }, "first_content_timeout",
     1'300ms},
    {"first_content_despite_comments", "{first_content: 1300ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("fault=comments; count=100; gap=100"); },
     "first_content_timeout", 1'300ms, Modes::Streamed},
    {"total_waiting", "{total: 1700ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); }, "total_timeout", 1'700ms},
    {"total_connecting", "{total: 1700ms, connect: 3s, heartbeat: 1h}",
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
     },
     "total_timeout", 1'700ms},
    {"total_streaming", "{total: 1700ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("gap=100; words=1000"); }, "total_timeout", 1'700ms,
     Modes::Streamed},
    {"event_gap", "{event_gap: 1900ms, heartbeat: 1h}",
     [](World& world) { world.provider(0).misbehave("fault=stall_after_content"); }, "event_gap_timeout",
     1'900ms, Modes::Streamed},
};

using Param = std::tuple<std::size_t, Mode>;
class TimerTable : public ::testing::TestWithParam<Param> {};

TEST_P(TimerTable, FiresExactlyThen) {
  const auto& [index, mode] = GetParam();
  const Case& timer = kCases[index];
  WorldSetup setup;
  setup.timers = timer.timers;
  World world(std::move(setup));
  timer.arrange(world);
  Ask ask = mode.ask("alone");
  ask.body.insert(ask.body.size() - 1, fmt::format(",\"padding\":\"{}\"", std::string(1'000, 'x')));
  Client& client = world.client();
  client.start(ask.bytes());
  world.run_until_end(client);
  const bool repeats = timer.kind == "connect_timeout";
  if (repeats) {
    EXPECT_EQ(world.records().back().attempts[0].ended - world.records().back().attempts[0].started,
              timer.at);
  } else {
    EXPECT_EQ(client.ended() - client.started(), timer.at);
  }
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_TRUE(story_of(world.records()[0].attempts).starts_with(timer.kind))
      << story_of(world.records()[0].attempts);
  // The request's own deadline is no evidence against the provider.
  for (int i = 0; i < 5 && timer.kind == "total_timeout"; ++i) static_cast<void>(world.ask(ask));
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    for (const Mode mode : modes_of(kCases[i].modes)) out.emplace_back(i, mode);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, TimerTable, ::testing::ValuesIn(params()), [](const auto& info) {
  return kCases[std::get<0>(info.param)].name + "_" + std::get<1>(info.param).name();
});

TEST(Heartbeats, ComeEveryTenSecondsFromAcceptance) {
  World world;
  world.provider(0).misbehave("delay=14000; ttft=20500");
  Client& client = world.client();
  client.start(chat("alone").streamed().bytes());
  world.run_until_end(client);
  EXPECT_EQ(client.time_of("HTTP/1.1 200"), 10s);
  EXPECT_EQ(client.time_of(": keep-alive\n\n", 0), 10s);
  EXPECT_EQ(client.time_of(": keep-alive\n\n", 1), 20s);
  EXPECT_EQ(client.time_of(": keep-alive\n\n", 2), 30s);
  EXPECT_EQ(client.time_of(": keep-alive\n\n", 3), std::nullopt);
  EXPECT_EQ(client.time_of("data: "), 34'500ms);
  EXPECT_TRUE(client.reply().body.ends_with("data: [DONE]\n\n"));
  world.expect_rest();
}

TEST(Heartbeats, FillTheGapsBetweenEvents) {
  World world;
  world.provider(0).misbehave("words=3; gap=25000");
  Client& client = world.client();
  client.start(chat("alone").streamed().bytes());
  world.run_until_end(client);
  std::string plain = client.reply().body;
  EXPECT_GE(client.time_of(": keep-alive\n\n", 1), 20s);
  plain = replaced_all(plain, ": keep-alive\n\n", "");
  World quiet;
  quiet.provider(0).misbehave("words=3");
  EXPECT_EQ(plain, quiet.ask(chat("alone").streamed()).reply.body);
  world.expect_rest();
}

TEST(Heartbeats, NeverInsideAnEvent) {
  // Each event takes 40 s to arrive, byte by byte.
  World world;
  WorldSetup setup;
  setup.timers = "{heartbeat: 1s, first_byte: 10m, first_content: 30m, event_gap: 10m, total: 2h}";
  World slow(std::move(setup));
  slow.provider(0).misbehave("words=3; split=1; rate=8");
  const Exchange heard = slow.ask(chat("alone").streamed());
  EXPECT_NE(heard.reply.body.find(": keep-alive\n\n"), std::string::npos);
  world.provider(0).misbehave("words=3");
  EXPECT_EQ(replaced_all(heard.reply.body, ": keep-alive\n\n", ""),
            world.ask(chat("alone").streamed()).reply.body);
  for (std::size_t at = 0; (at = heard.reply.body.find(": keep-alive\n\n", at)) != std::string::npos; ++at) {
    EXPECT_TRUE(at == 0 || heard.reply.body[at - 1] == '\n');
    EXPECT_TRUE(at < 2 || heard.reply.body[at - 2] == '\n') << "between events only";
  }
  slow.expect_rest();
}

TEST(Heartbeats, DoNotCommit) {
  World world;
  world.provider(0).misbehave("fault=stall_before_head");  // 15 s
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_EQ(heard.story(), "first_byte_timeout,success");
  EXPECT_TRUE(heard.reply.body.starts_with(": keep-alive\n\ndata: "));
  EXPECT_TRUE(heard.reply.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(heard.took, 15s);
  world.expect_rest();
}

TEST(Heartbeats, ALaterFailureIsAnEventInTheStream) {
  for (const Mode mode : modes_of(Modes::Streamed)) {
    World world;
    for (std::size_t i = 0; i < 3; ++i) world.provider(i).misbehave("fault=stall_before_head");
    const Exchange heard = world.ask(mode.ask("chain"));
    EXPECT_EQ(heard.story(), "first_byte_timeout,first_byte_timeout,first_byte_timeout");
    EXPECT_EQ(heard.reply.status, 200);
    EXPECT_TRUE(heard.reply.complete);
    EXPECT_EQ(heard.took, 45s);
    const std::size_t error_at =
        heard.reply.body.find(mode.responses ? "event: error\n" : "data: {\"error\":");
    EXPECT_EQ(heard.reply.body.substr(0, error_at), replaced_all("xxxx", "x", ": keep-alive\n\n"));
    EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
    EXPECT_TRUE(heard.record->interrupted);
    EXPECT_EQ(heard.record->status, 200);
    world.expect_rest();
  }
}

TEST(Heartbeats, NotForWholeAnswers) {
  World world;
  world.provider(0).misbehave("delay=14000");
  const Exchange heard = world.ask(chat("alone"));
  EXPECT_EQ(heard.raw.find("keep-alive\n"), std::string::npos);
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.took, 14s);
  world.expect_rest();
}

// Models that reason have first limits of their own, where those are longer.
struct Thinking {
  std::string name;
  std::string fault;
  std::string kind;
  bool stream = false;
  Milliseconds at{0};
};
const std::vector<Thinking> kThinking = {
    {"head", "stall_before_head", "first_byte_timeout", true, 900ms},
    {"head_of_a_whole_answer", "stall_before_head", "first_byte_timeout", false, 2'100ms},
    {"content", "stall_after_head", "first_content_timeout", true, 2'100ms},
    {"content_of_a_whole_answer", "stall_after_head", "first_content_timeout", false, 2'100ms},
};

class LongThinkingTimers : public ::testing::TestWithParam<Thinking> {};

TEST_P(LongThinkingTimers, AreThoseOfModelsThatReason) {
  const Thinking& thinking = GetParam();
  for (const bool reasons : {true, false}) {
    WorldSetup setup;
    setup.timers =
        "{first_byte: 500ms, first_content: 700ms, first_byte_reasoning: 900ms, first_content_reasoning: "
        "2100ms, heartbeat: 1h}";
    if (reasons) setup.of_models = ", can: [tools, reasoning]";
    World world(std::move(setup));
    world.provider(0).misbehave("fault=" + thinking.fault);
    const Ask ask = chat("alone");
    const Exchange heard = world.ask(thinking.stream ? ask.streamed() : ask);
    EXPECT_EQ(heard.story(), thinking.kind);
    if (reasons) {
      EXPECT_EQ(heard.took, thinking.at);
    } else {
      EXPECT_LE(heard.took, 700ms);
    }
    world.expect_rest();
  }
}

INSTANTIATE_TEST_SUITE_P(Table, LongThinkingTimers, ::testing::ValuesIn(kThinking),
                         [](const auto& info) { return info.param.name; });

TEST(LongThinking, IsNotCutByTheGapTimer) {
  // A minute less than the first-content limit without content, then gaps below theirs.
  WorldSetup setup;
  setup.timers = "{event_gap: 5s, first_content: 60s}";
  World world(std::move(setup));
  world.provider(0).misbehave("ttft=40000; gap=4000; words=4");
  for (const Mode mode : modes_of(Modes::Streamed)) {
    const Exchange heard = world.ask(mode.ask("alone"));
    EXPECT_EQ(heard.story(), "success") << mode.name();
  }
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::timers
