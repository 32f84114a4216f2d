// SIGTERM as the connections see it.
#include <fmt/format.h>

#include "net/test_certificates.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

TEST(Drain, RunningStreamsFinish) {
  World world;
  world.provider(0).misbehave("words=20; gap=500");
  Client& stream = world.start(chat("alone").streamed());
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
  Client& stream = world.start(chat("alone").streamed());
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

TEST(Drain, IsCutShortOnRequest) {
  World world;
  world.provider(0).misbehave("words=200; gap=500");
  EXPECT_EQ(world.say("GET /readyz HTTP/1.1\r\nhost: g\r\n\r\n").reply.status, 200) << "somebody watches";
  Client& stream = world.start(chat("alone").streamed());
  world.run_for(1s);
  world.start_drain(300s);
  world.run_for(1s);
  EXPECT_TRUE(stream.running());
  world.cut_drain_short();
  world.run_until_end(stream);
  EXPECT_LT(stream.ended() - stream.started(), 2'100ms);
  EXPECT_NE(stream.reply().body.find("gateway_shutting_down"), std::string::npos) << stream.raw();
  world.run_for(100ms);
  EXPECT_TRUE(world.drained()) << "also of what it announces";
  world.expect_rest();
}

TEST(Drain, WhatIsLeftInEveryPhaseEnds) {
  struct Phase {
    const char* name;
    void (*arrange)(World& world);
  };
  const std::vector<Phase> phases = {
      {"connect",
       [](World& world) {
         world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
       }},
      {"head", [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); }},
      {"body", [](World& world) { world.provider(0).misbehave("fault=stall_mid_body"); }},
  };
  for (const Phase& phase : phases) {
    for (const Ask& ask : {chat("alone"), chat("alone").streamed()}) {
      World world;
      phase.arrange(world);
      Client& client = world.start(ask);
      world.run_for(100ms);
      world.start_drain(2s);
      world.run_until_end(client);
      EXPECT_LE(client.ended() - client.started(), 2'200ms) << phase.name;
      EXPECT_TRUE(client.reply().status == 503 ||
                  client.reply().body.find("gateway_shutting_down") != std::string::npos)
          << phase.name << client.raw();
      EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
      world.expect_rest();
      EXPECT_TRUE(world.drained());
      const model::Attempt& cut = world.records().back().attempts.back();
      EXPECT_EQ(cut.error->phase == AttemptPhase::ReplyBegun, cut.status != 0) << phase.name;
    }
  }
}

constexpr std::string_view kReady = "GET /readyz HTTP/1.1\r\nhost: g\r\n\r\n";

TEST(Drain, AnIdleProcessThatIsWatchedSaysThatItGoes) {
  World world;
  EXPECT_EQ(world.say(std::string(kReady)).reply.status, 200);
  world.run_for(30s);
  world.start_drain(300s);
  world.run_for(4s);
  EXPECT_FALSE(world.drained());
  EXPECT_EQ(world.say(std::string(kReady)).reply.status, 503);
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200) << "taken as long as it is announced";
  world.run_for(1'100ms);
  EXPECT_TRUE(world.drained());
}

TEST(Drain, AnIdleProcessThatNobodyWatchesGoesAtOnce) {
  for (const bool once_watched : {false, true}) {
    World world;
    if (once_watched) world.say(std::string(kReady));
    world.run_for(61s);
    world.start_drain(300s);
    world.run_for(100ms);
    EXPECT_TRUE(world.drained()) << once_watched;
  }
}

TEST(Drain, TheAnnouncementCanBeLeftOutAndIsNeverLongerThanTheDrain) {
  for (const auto& [timers, drain, lasts] :
       {std::tuple("{drain_announce: 0s}", 300s, 100ms), std::tuple("{drain_announce: 1h}", 2s, 2'040ms)}) {
    WorldSetup setup;
    setup.timers = timers;
    World world(std::move(setup));
    world.say(std::string(kReady));
    world.start_drain(drain);
    world.run_for(lasts - 60ms);
    EXPECT_EQ(world.drained(), lasts < 1s);
    world.run_for(60ms);
    EXPECT_TRUE(world.drained()) << timers;
  }
}

TEST(Drain, NoLoopLeavesBeforeTheLastIsDone) {
  WorldSetup setup;
  setup.servers = 2;
  World world(std::move(setup));
  world.provider(0).misbehave("words=40; gap=500");
  Client& stream = world.start(chat("alone").streamed());
  world.run_for(1s);
  world.start_drain(300s);
  for (int i = 0; i < 10; ++i) {
    Client& asking = world.client();
    asking.start(std::string(kReady));
    world.run_for(1s);
    EXPECT_EQ(asking.reply().status, 503) << "second " << i << asking.raw();
    EXPECT_NE(asking.reply().body.find("draining"), std::string::npos) << asking.raw();
  }
  EXPECT_EQ(world.servers_drained(), 0U);
  world.run_until_end(stream);
  EXPECT_TRUE(stream.reply().body.ends_with("data: [DONE]\n\n"));
  world.run_for(100ms);
  EXPECT_EQ(world.servers_drained(), 2U);
}

TEST(Drain, AnAnswerWhoseHeadIsStillToComeSaysThatItIsTheLast) {
  World world;
  world.provider(0).misbehave("delay=2000");
  Client& client = world.client();
  client.start(chat("alone").bytes(), 1, true);
  world.run_for(1s);
  world.start_drain(300s);
  world.run_for(2s);
  EXPECT_EQ(client.reply().status, 200);
  EXPECT_EQ(client.reply().header("connection"), "close");
  EXPECT_TRUE(client.closed_by_gateway());
}

// Each holds its connection as long as it is let, and there is always a next one.
TEST(Drain, WhoComesAfterTheAnnouncementDoesNotKeepItOpen) {
  WorldSetup setup;
  setup.servers = 2;
  World world(std::move(setup));
  world.provider(0).misbehave("delay=150");
  world.say(std::string(kReady));
  world.start_drain(300s);
  std::vector<Client*> clients;
  for (int i = 0; i < 110; ++i) {
    clients.push_back(&world.client());
    clients.back()->stop_reading();
    clients.back()->start(chat("alone").bytes());
    world.run_for(100ms);
  }
  EXPECT_TRUE(world.drained());
  for (Client* client : clients) client->read_again();
  world.run_for(1s);
  EXPECT_EQ(clients[40]->reply().status, 200) << "while it is announced";
  EXPECT_EQ(clients[50]->reply().status, 503) << "as long as the last of them runs";
  EXPECT_EQ(clients.back()->raw(), "") << "then nobody listens";
}

TEST(Drain, ARunningRequestKeepsTheListenersOfAllLoopsOpen) {
  WorldSetup setup;
  setup.servers = 2;
  World world(std::move(setup));
  // An upload whose head was admitted is one already.
  const std::string upload = chat("alone").bytes();
  Client& client = world.client();
  client.start(upload.substr(0, upload.size() - 10));
  world.run_for(1s);
  world.start_drain(300s);
  world.run_for(5'900ms);
  EXPECT_EQ(world.ask(chat("spare")).reply.status, 503);
  client.say(std::string_view(upload).substr(upload.size() - 10));
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200);
  world.run_for(100ms);
  EXPECT_TRUE(world.drained());
}

TEST(Drain, HandshakesAreCutAtItsEnd) {
  const net::testing::Certificate own = net::testing::make_certificate({.name = "simulation-drain",
                                                                        .alternative_names = "IP:127.0.0.1",
                                                                        .issuer = nullptr,
                                                                        .authority = false});
  net::TlsServerOptions options;
  options.certificate_file = own.certificate_file;
  options.key_file = own.key_file;
  WorldSetup setup;
  setup.listener_tls = net::TlsServerContext::make(options).value();
  net::testing::remove_files(own);
  World world(std::move(setup));
  Client& silent = world.client();
  silent.start("", 0);
  world.run_for(1s);
  world.start_drain(2s);
  world.run_for(1'900ms);
  EXPECT_FALSE(world.drained());
  world.run_for(200ms);
  EXPECT_TRUE(world.drained());
  EXPECT_FALSE(silent.running());
}

TEST(Drain, RepliesOfOurOwnThatNobodyTakesAreCutAfterTheLastWords) {
  World world;
  world.narrow(20);
  Client& client = world.client();
  client.stop_reading();
  client.start(fmt::format("GET /v1/models HTTP/1.1\r\nhost: g\r\n{}\r\n", kKeyLine));
  world.run_for(1s);
  world.start_drain(2s);
  world.run_for(4'900ms);
  EXPECT_FALSE(world.drained());
  world.run_for(200ms);
  EXPECT_TRUE(world.drained());
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

TEST(Drain, HalfAHeadOnAKeptConnectionIsHeardToItsEnd) {
  World world;
  const std::string bytes = chat("alone").bytes();
  Client& client = world.client();
  client.start(bytes, 2);
  world.run_for(1s);
  EXPECT_EQ(client.reply().status, 200);
  client.say(std::string_view(bytes).substr(0, 40));
  world.run_for(100ms);
  world.start_drain(300s);
  world.run_for(1s);
  ASSERT_TRUE(client.running());
  client.say(std::string_view(bytes).substr(40));
  world.run_until_end(client);
  EXPECT_EQ(client.reply(1).status, 200) << client.raw();
  EXPECT_EQ(client.reply(1).header("connection"), "close");
  world.run_for(100ms);
  EXPECT_TRUE(world.drained());
}

}  // namespace
}  // namespace qq::simulation
