// Limits of our own: memory, bodies in flight, connections. Refused with 503 and a time to come back, before
// anything is read that need not be; such refusals are never evidence against a provider.
#include <fmt/format.h>

#include "downstream/turned_away.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

WorldSetup with_limits(std::string limits) {
  WorldSetup setup;
  setup.limits = std::move(limits);
  return setup;
}

void expect_saturated(const Exchange& heard) {
  EXPECT_EQ(heard.reply.status, 503) << heard.raw;
  EXPECT_EQ(error_code_in(heard.reply.body), "gateway_saturated");
  EXPECT_EQ(heard.reply.header("retry-after"), "1");
  EXPECT_TRUE(heard.attempts().empty());
}

TEST(Saturation, ShortOfMemoryRefusesLargeBodiesFirst) {
  World world;
  world.process().memory_step = 1;
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  expect_saturated(world.ask(chat("alone", std::string(2U << 20U, 'x'))));
  world.process().memory_step = 0;
  EXPECT_EQ(world.ask(chat("alone", std::string(2U << 20U, 'x'))).reply.status, 200);
  world.expect_rest();
}

TEST(Saturation, ShorterOfMemoryRefusesRequestsAndRunningOnesGoOn) {
  World world;
  world.provider(0).misbehave("words=5; gap=500");
  Client& running = world.start(chat("alone").streamed());
  world.run_for(1s);
  world.process().memory_step = 2;
  expect_saturated(world.ask(chat("alone")));
  EXPECT_EQ(world.say("GET /healthz HTTP/1.1\r\nhost: g\r\n\r\n").reply.status, 200);
  world.run_until_end(running);
  EXPECT_TRUE(running.reply().body.ends_with("data: [DONE]\n\n"));
  world.expect_rest();
}

TEST(Saturation, AtTheLastStepConnectionsAreClosed) {
  World world;
  world.process().memory_step = 3;
  const Exchange heard = world.ask(chat("alone"));
  EXPECT_EQ(heard.raw, "");
  EXPECT_TRUE(heard.closed || heard.reset);
  EXPECT_EQ(world.counters().connections_refused.get(), 1);
  world.expect_rest();
}

TEST(Saturation, BodiesInFlightAreBounded) {
  World world(with_limits("{body_max: 1MiB, bodies_in_flight_max: 2MiB}"));
  world.provider(0).misbehave("delay=5000");
  const Ask large = chat("alone", std::string(900'000, 'x'));
  Client& one = world.client();
  Client& two = world.client();
  one.start(large.bytes());
  two.start(large.bytes());
  world.run_for(1s);
  EXPECT_GT(world.process().bodies_in_flight_bytes.load(), 1'800'000);
  expect_saturated(world.ask(large));
  EXPECT_EQ(world.ask(chat("spare")).reply.status, 200) << "small ones still fit";
  world.run_for(10s);
  EXPECT_EQ(one.reply().status, 200);
  EXPECT_EQ(two.reply().status, 200);
  EXPECT_EQ(world.ask(large).reply.status, 200);
  world.expect_rest();
}

TEST(Saturation, AnAnnouncedLengthThatNeverComesHoldsNothing) {
  World world(with_limits("{body_max: 1MiB, bodies_in_flight_max: 1MiB}"));
  std::vector<Client*> liars;
  for (int i = 0; i < 4; ++i) {
    liars.push_back(&world.client());
    liars.back()->start(
        fmt::format("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{}content-length: 900000\r\n\r\n{{",
                    kKeyLine),
        0);
  }
  world.run_for(12s);
  for (Client* liar : liars) {
    EXPECT_FALSE(liar->running());
    EXPECT_TRUE(liar->reply().status == 408 || liar->reply().status == 503) << liar->raw();
  }
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  world.expect_rest();
}

TEST(Saturation, ABodyCountsOnlyUntilItsAnswerBegins) {
  World world(with_limits("{body_max: 1MiB, bodies_in_flight_max: 1MiB}"));
  world.provider(0).misbehave("delay=1000; words=20; gap=500");
  const Ask large = chat("alone", std::string(900'000, 'x')).streamed();
  Client& one = world.start(large);
  world.run_for(900ms);
  EXPECT_GT(world.process().bodies_in_flight_bytes.load(), 900'000);
  world.run_for(1s);
  EXPECT_TRUE(one.running()) << "it streams";
  EXPECT_EQ(world.process().bodies_in_flight_bytes.load(), 0);
  EXPECT_EQ(world.counters().bodies_in_flight_bytes.get(), 0);
  EXPECT_EQ(world.ask(large).reply.status, 200);
  world.run_until_end(one);
  EXPECT_TRUE(one.reply().body.ends_with("data: [DONE]\n\n"));
  world.expect_rest();
}

TEST(Saturation, IdleConnectionsMakeRoomForOneThatIsNeeded) {
  World world;
  for (const std::string_view route : {"alone", "spare"}) EXPECT_EQ(world.ask(chat(route)).reply.status, 200);
  EXPECT_EQ(world.counters().upstream_connections_idle.get(), 2);
  world.provider(0).misbehave("fault=503");
  world.provider(1).misbehave("fault=503");
  world.loop().next_connect(world.provider(2).address(), {net::ConnectOutcome::NoDescriptors, {}});
  const Exchange heard = world.ask(chat("chain"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story().substr(heard.story().rfind(',') + 1), "success") << heard.story();
  EXPECT_EQ(world.counters().upstream_connections_idle.get(), 1) << "the new one";
  world.expect_rest();
}

TEST(Saturation, WithoutDescriptorsAConnectionIsTriedOnceMoreAtMost) {
  World world;
  world.loop().set_connect(world.provider(1).address(), {net::ConnectOutcome::NoDescriptors, {}});
  const std::uint64_t before = world.loop().connects();
  const Exchange refused = world.ask(chat("spare"));
  EXPECT_EQ(error_code_in(refused.reply.body), "gateway_saturated");
  const std::uint64_t without_idle = world.loop().connects() - before;
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  const std::uint64_t with_idle_from = world.loop().connects();
  EXPECT_EQ(error_code_in(world.ask(chat("spare")).reply.body), "gateway_saturated");
  EXPECT_EQ(world.loop().connects() - with_idle_from, without_idle + 1);
  EXPECT_EQ(world.counters().upstream_connections_idle.get(), 0);
  world.expect_rest();
}

// A body's buffer is made as large as announced with its first bytes, and counts as large.
TEST(Saturation, RoomForABodyThatComesSlowlyCounts) {
  World world;
  std::vector<Client*> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(&world.client());
    slow.back()->start(
        fmt::format("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{}content-length: 60000\r\n\r\n",
                    kKeyLine),
        0);
  }
  world.run_for(100ms);
  EXPECT_EQ(world.process().bodies_in_flight_bytes.load(), 0) << "a stranger's word costs nothing";
  for (Client* client : slow) client->say("{");
  world.run_for(100ms);
  EXPECT_EQ(world.process().bodies_in_flight_bytes.load(), 10 * 60'000);
  for (Client* client : slow) client->leave(Client::Leave::Reset);
  world.expect_rest();
}

TEST(Saturation, ConnectionsAboveTheirLimitAreToldSo) {
  World world(with_limits("{connections_max: 2}"));
  world.provider(0).misbehave("words=20; gap=500");
  Client& one = world.client();
  Client& two = world.client();
  one.start(chat("alone").streamed().bytes());
  two.start(chat("alone").streamed().bytes());
  world.run_for(1s);
  const Exchange refused = world.ask(chat("alone"));
  expect_saturated(refused);
  EXPECT_EQ(refused.reply.header("connection"), "close");
  EXPECT_FALSE(refused.reset);
  EXPECT_EQ(world.counters().connections_refused.get(), 1);
  world.run_until_end(one);
  world.run_until_end(two);
  EXPECT_TRUE(two.reply().body.ends_with("data: [DONE]\n\n"));
  world.run_for(1s);
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  world.expect_rest();
}

// A gateway that is only full is alive: who watches it through a listener of its own is not turned away.
class OperatorsListener : public ::testing::Test {
 protected:
  static WorldSetup setup() {
    WorldSetup setup = with_limits("{connections_max: 2}");
    setup.more_listeners = ", {address: \"127.0.0.1:8081\", serve: [metrics]}";
    setup.servers = 2;
    return setup;
  }
  int status_of(std::string_view path) {
    Client& asking = world_.client(1);
    asking.start(fmt::format("GET {} HTTP/1.1\r\nhost: g\r\n\r\n", path));
    world_.run_until_end(asking);
    return asking.reply().status;
  }
  void expect_answers() {
    for (const std::string_view path : {"/healthz", "/readyz", "/metrics"})
      EXPECT_EQ(status_of(path), 200) << path;
  }
  World world_{setup()};
};

TEST_F(OperatorsListener, AnswersWhileClientsFillTheGateway) {
  std::vector<Client*> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(&world_.client());
    clients.back()->start("", 0);
  }
  world_.run_for(10ms);
  expect_saturated(world_.ask(chat("alone")));
  expect_answers();
  for (Client* client : clients) client->leave(Client::Leave::Reset);
  world_.expect_rest();
}

TEST_F(OperatorsListener, AnswersAtTheLastStepOfMemory) {
  world_.process().memory_step = 3;
  expect_answers();
  world_.process().memory_step = 0;
  world_.expect_rest();
}

TEST_F(OperatorsListener, HasALimitOfItsOwnAndTakesNoRoomOfTheClients) {
  std::vector<Client*> watchers;
  for (std::size_t i = 0; i < downstream::kOperatorConnectionsMax; ++i) {
    watchers.push_back(&world_.client(1));
    watchers.back()->start("", 0);
  }
  world_.run_for(10ms);
  EXPECT_EQ(world_.counters().connections_open.get(), 16);
  EXPECT_EQ(status_of("/healthz"), 503);
  EXPECT_EQ(world_.ask(chat("alone")).reply.status, 200);
  watchers.back()->leave(Client::Leave::Reset);
  world_.run_for(10ms);
  EXPECT_EQ(status_of("/healthz"), 200);
  for (Client* watcher : watchers) watcher->leave(Client::Leave::Reset);
  world_.expect_rest();
}

class TurnedAwayBy : public ::testing::TestWithParam<int> {};

TEST_P(TurnedAwayBy, SomeLoopsHoldsLittleAndNotForLong) {
  WorldSetup setup = with_limits("{connections_max: 1}");
  setup.servers = GetParam();
  World world(std::move(setup));
  std::vector<Client*> served;
  for (int i = 0; i < GetParam(); ++i) {
    served.push_back(&world.client());
    served.back()->start("", 0);
  }
  world.run_for(10ms);
  const std::size_t before = world.loop().open_streams();
  std::vector<Client*> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(&world.client());
    many.back()->stop_reading();
    many.back()->start("", 0);
  }
  world.run_for(10ms);
  EXPECT_EQ(world.counters().connections_refused.get(), 200);
  EXPECT_EQ(world.loop().open_streams(), before + 200 + downstream::TurnedAway::kMost);
  world.run_for(1'200ms);
  EXPECT_EQ(world.loop().open_streams(), before + 200) << "only the clients' own ends";
  for (Client* client : many) client->leave(Client::Leave::Reset);
  for (Client* client : served) client->leave(Client::Leave::Reset);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Saturation, TurnedAwayBy, ::testing::Values(1, 2));

}  // namespace
}  // namespace qq::simulation
