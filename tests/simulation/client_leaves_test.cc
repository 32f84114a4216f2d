// The client hangs up, in every phase of its request: the provider's connection is closed within a second,
// the attempt counts as cancelled and says nothing about the provider.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation::client_leaves {
namespace {

struct Phase {
  std::string name;
  Modes modes = Modes::Both;
  void (*arrange)(World& world);
  Milliseconds leaves_at{0};
  bool reached = true;  // the provider has seen the request
  std::string story = "cancelled";
};

const std::vector<Phase> kPhases = {
    {"back_off", Modes::Both, [](World& world) { world.provider(0).misbehave("fault=500; delay=5000"); },
     5'000ms, true, "server_error"},
    {"connect", Modes::Both,
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
     },
     1'000ms, false},
    {"name", Modes::Both, [](World& world) { world.loop().set_name("one.example", {"127.0.0.1"}, 2s); },
     1'000ms, false},
    {"send", Modes::Both,
     [](World& world) {
       net::SimulatedNetwork network;
       network.up.window = 4'096;
       world.loop().set_network(world.provider(0).address(), network);
       world.provider(0).scenario(R"({"connections":["stall","stall","stall","stall","stall","stall"]})");
     },
     5'000ms, false},
    {"head", Modes::Both, [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); },
     8'000ms},
    {"head_after_heartbeat", Modes::Streamed,
     [](World& world) { world.provider(0).misbehave("fault=stall_before_head"); }, 12'000ms},
    {"first_content", Modes::Both,
     [](World& world) { world.provider(0).misbehave("fault=stall_after_head"); }, 5'000ms},
    {"body", Modes::Both, [](World& world) { world.provider(0).misbehave("fault=stall_mid_body"); }, 5'000ms},
    {"drip", Modes::Streamed, [](World& world) { world.provider(0).misbehave("gap=500"); }, 2'250ms},
    // Half an error says nothing about the provider.
    {"error_body", Modes::Both,
     [](World& world) { world.provider(0).misbehave("fault=400; fault=stall_mid_body; at=5"); }, 5'000ms},
    {"error_body_500", Modes::Both,
     [](World& world) { world.provider(0).misbehave("fault=500; fault=stall_mid_body; at=5"); }, 5'000ms},
    {"unstreamed_body", Modes::Streamed,
     [](World& world) { world.provider(0).misbehave("fault=error_200; fault=stall_mid_body; at=5"); },
     5'000ms},
};

using Param = std::tuple<std::size_t, Client::Leave, Mode>;

class ClientLeaves : public ::testing::TestWithParam<Param> {};

TEST_P(ClientLeaves, AndTheProviderIsLetGo) {
  const auto& [index, how, mode] = GetParam();
  const Phase& phase = kPhases[index];
  WorldSetup setup;
  setup.base_host = phase.name == "name" ? "one.example" : "127.0.0.1";
  // The repeat's pause is drawn from zero upwards: from a long way, so that it is never over at once.
  setup.routes = "  - {name: patient, candidates: [{model: m0}], retry: {backoff: {base: 60s, max: 60s}}}\n";
  World world(std::move(setup));
  phase.arrange(world);
  Ask ask = mode.ask("patient");
  if (phase.name == "send")
    ask.body.insert(ask.body.size() - 1, fmt::format(",\"padding\":\"{}\"", std::string(100'000, 'x')));
  for (int i = 0; i < 6; ++i) {
    const std::size_t before = world.records().size();
    Client& client = world.start(ask);
    world.run_for(phase.leaves_at + 1ms);
    ASSERT_EQ(world.records().size(), before) << "it ended before the client left";
    ASSERT_EQ(world.counters().requests_in_flight.get(), 1);
    client.leave(how);
    const MonotonicTime left = world.loop().now();
    world.run_for(1s);
    EXPECT_EQ(world.counters().requests_in_flight.get(), 0);
    EXPECT_EQ(world.provider(0).seen().in_flight(), 0U);
    EXPECT_EQ(world.counters().upstream_connections_open.get(),
              world.counters().upstream_connections_idle.get());
    ASSERT_EQ(world.records().size(), before + 1);
    const KeptRecord& record = world.records().back();
    EXPECT_EQ(story_of(record.attempts), phase.story);
    const model::Attempt& last = record.attempts.back();
    EXPECT_EQ(last.error->phase == AttemptPhase::ReplyBegun, last.status != 0);
    EXPECT_LE(record.ended - left, 1s);
    ASSERT_TRUE(record.error);
    EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
    if (phase.name != "back_off") {
      EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
      EXPECT_EQ(world.health(0).times_opened(), 0U);
    } else {
      world.run_for(121s);
    }
    world.run_for(2s);
    EXPECT_FALSE(client.running()) << "the gateway closes, too";
  }
  world.expect_rest();
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    for (const auto how : {Client::Leave::Fin, Client::Leave::Reset}) {
      for (const Mode mode : modes_of(kPhases[i].modes)) {
        if (!mode.responses) out.emplace_back(i, how, mode);
      }
    }
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, ClientLeaves, ::testing::ValuesIn(params()), [](const auto& info) {
  return kPhases[std::get<0>(info.param)].name +
         (std::get<1>(info.param) == Client::Leave::Fin ? "_fin_" : "_reset_") +
         std::get<2>(info.param).name();
});

// A client that takes nothing: pressure goes back to the provider, then it leaves, or its time is up.
class ClientTakesNothing : public ::testing::TestWithParam<bool> {
 protected:
  ClientTakesNothing() {
    net::SimulatedNetwork narrow;
    narrow.down.window = 2'000;
    world_.loop().set_network(world_.gateway(), narrow);
    net::SimulatedNetwork provider;
    provider.down.window = 8'000;
    world_.loop().set_network(world_.provider(0).address(), provider);
    world_.provider(0).misbehave("words=20000");
  }
  Ask ask() const { return GetParam() ? chat("alone").streamed() : chat("alone"); }
  World world_;
};

TEST_P(ClientTakesNothing, LeavesByReset) {
  Client& client = world_.client();
  client.stop_reading();
  client.start(ask().bytes());
  world_.run_for(10s);
  EXPECT_EQ(world_.counters().requests_in_flight.get(), 1);
  client.leave(Client::Leave::Reset);
  world_.run_for(1s);
  ASSERT_EQ(world_.records().size(), 1U);
  EXPECT_EQ(world_.records()[0].error->kind, ErrorKind::ClientGone);
  if (GetParam()) EXPECT_EQ(story_of(world_.records()[0].attempts), "cancelled");
  EXPECT_EQ(world_.provider(0).seen().in_flight(), 0U);
  EXPECT_EQ(world_.health(0).state(), resilience::CircuitState::Closed);
  world_.expect_rest();
}

TEST_P(ClientTakesNothing, IsCutAtTheWriteStallTimer) {
  Client& client = world_.client();
  client.stop_reading();
  client.start(ask().bytes());
  world_.run_for(29'999ms);
  EXPECT_EQ(world_.records().size(), 0U);
  world_.run_for(1ms);
  ASSERT_EQ(world_.records().size(), 1U);
  const KeptRecord& record = world_.records()[0];
  ASSERT_TRUE(record.error);
  EXPECT_EQ(record.error->kind, ErrorKind::ClientStalled);
  EXPECT_EQ(story_of(record.attempts), "cancelled");
  EXPECT_EQ(world_.health(0).state(), resilience::CircuitState::Closed);
  world_.run_for(2s);
  client.leave(Client::Leave::Reset);
  world_.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Modes, ClientTakesNothing, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "stream" : "plain"; });

// The provider sees the pressure: it cannot write what nobody takes.
TEST(ClientIsSlow, TheProviderIsHeldBack) {
  World world;
  world.narrow(2'000);
  world.provider(0).misbehave("words=50000");
  Client& client = world.client();
  client.stop_reading();
  client.start(chat("alone").streamed().bytes());
  world.run_for(5s);
  // 256 KiB wait in the simulated network, and at most one read of 64 KiB in the gateway.
  EXPECT_LE(world.counters().bytes_from_upstreams.get(), 3 * 64 * 1024);
  EXPECT_EQ(world.provider(0).seen().in_flight(), 1U);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::client_leaves
