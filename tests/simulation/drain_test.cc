// SIGTERM as the connections see it.
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

TEST(Drain, RunningStreamsFinish) {
  World world;
  world.provider(0).misbehave("words=20; gap=500");
  Client& stream = world.client();
  stream.start(chat("alone").streamed().bytes());
  Client& idle = world.client();
  idle.start("GET /healthz HTTP/1.1\r\nhost: g\r\n\r\n", 0);
  world.run_for(2s);
  EXPECT_TRUE(idle.running());
  world.start_drain(300s);
  world.run_for(1s);
  EXPECT_TRUE(idle.closed_by_gateway()) << "idle connections close at once";
  EXPECT_FALSE(world.drained());
  world.run_until_end(stream);
  EXPECT_TRUE(stream.reply().body.ends_with("data: [DONE]\n\n"));
  world.run_for(2s);
  EXPECT_TRUE(world.drained());
}

TEST(Drain, NewConnectionsAreServedForAWhileThenRefused) {
  World world;
  world.provider(0).misbehave("words=200; gap=500");
  Client& stream = world.client();
  stream.start(chat("alone").streamed().bytes());
  world.run_for(1s);
  world.start_drain(30s);
  world.run_for(1s);
  EXPECT_EQ(world.say("GET /readyz HTTP/1.1\r\nhost: g\r\n\r\n").reply.status, 503);
  const Exchange early = world.ask(chat("spare"));
  EXPECT_EQ(early.reply.status, 200);
  EXPECT_EQ(early.reply.header("connection"), "close");
  world.run_for(5s);
  const Exchange late = world.ask(chat("spare"));
  EXPECT_EQ(late.reply.status, 503) << late.raw;
  EXPECT_TRUE(late.reply.header("retry-after"));
  EXPECT_TRUE(stream.running());
  world.run_until_end(stream);
  const HttpReply& cut = stream.reply();
  EXPECT_EQ(stream.ended() - stream.started(), 31s) << "at the drain time";
  EXPECT_TRUE(cut.complete);
  EXPECT_EQ(cut.body.find("[DONE]"), std::string::npos);
  EXPECT_NE(cut.body.find("gateway_shutting_down"), std::string::npos) << cut.body;
  world.run_for(5s);
  EXPECT_TRUE(world.drained());
  ASSERT_FALSE(world.records().empty());
  const KeptRecord& record = world.records().back();
  EXPECT_TRUE(record.interrupted);
  EXPECT_EQ(story_of(record.attempts), "cancelled");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

TEST(Drain, WhatIsLeftInEveryPhaseEnds) {
  struct Phase {
    const char* name;
    void (*arrange)(World& world);
  };
  const std::vector<Phase> phases = {
      {"connect", [](World& world) { world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}}); }},
      {"head", [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); }},
      {"body", [](World& world) { world.provider(0).misbehave("fault=stall_mid_body"); }},
  };
  for (const Phase& phase : phases) {
    for (const Ask& ask : {chat("alone"), chat("alone").streamed()}) {
      World world;
      phase.arrange(world);
      Client& client = world.client();
      client.start(ask.bytes());
      world.run_for(100ms);
      world.start_drain(2s);
      world.run_until_end(client);
      EXPECT_LE(client.ended() - client.started(), 2'200ms) << phase.name;
      EXPECT_TRUE(client.reply().status == 503 || client.reply().body.find("gateway_shutting_down") != std::string::npos)
          << phase.name << client.raw();
      EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
      world.expect_rest();
      EXPECT_TRUE(world.drained());
    }
  }
}

}  // namespace
}  // namespace qq::simulation
