// Faults before anything is sent: refused, black holes, names that do not resolve. Nothing reached the
// provider, so such attempts do not count against the three of a request.
#include "simulation/fault_case.h"

namespace qq::simulation::faults_connecting {
namespace {

struct Case {
  std::string name;
  std::string kind;
  int status = 503;
  std::string code;
  Milliseconds each{0};  // what one attempt takes
  void (*arrange)(World& world);
};

constexpr std::string_view kHost = "one.example";

const std::vector<Case> kCases = {
    {"refused", "connect_failed", 503, "upstream_connect_failed", 0ms,
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::Refuse, {}});
     }},
    {"black_hole", "connect_timeout", 504, "upstream_connect_timeout", 3s,
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
     }},
    {"slow_accept", "connect_timeout", 504, "upstream_connect_timeout", 3s,
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::Accept, 3001ms});
     }},
    {"unknown_name", "dns_failed", 503, "upstream_dns", 0ms,
     [](World& world) { world.loop().fail_name(std::string(kHost)); }},
    {"slow_name", "dns_failed", 503, "upstream_dns", 3s,
     [](World& world) { world.loop().set_name(std::string(kHost), {"127.0.0.1"}, 30s); }},
};

struct Param {
  Case fault;
  Mode mode;
};

class FaultConnecting : public ::testing::TestWithParam<Param> {
 protected:
  static WorldSetup setup() {
    WorldSetup setup;
    setup.base_host = kHost;
    return setup;
  }
  static void reachable(World& world) { world.loop().set_name(std::string(kHost), {"127.0.0.1"}); }
};

TEST_P(FaultConnecting, AloneSaysWhenToComeBack) {
  const auto& [fault, mode] = GetParam();
  WorldSetup setup = FaultConnecting::setup();
  setup.timers = "{heartbeat: 2m}";
  World world(std::move(setup));
  reachable(world);
  fault.arrange(world);
  const Exchange heard = world.ask(mode.ask("alone"));
  EXPECT_EQ(heard.reply.status, fault.status);
  EXPECT_EQ(error_code_in(heard.reply.body), fault.code);
  EXPECT_EQ(heard.story(), fault.kind + "," + fault.kind + "," + fault.kind) << "repeated with a pause";
  EXPECT_EQ(heard.reached(), 0);
  EXPECT_GE(heard.took, 3 * fault.each);
  EXPECT_LE(heard.took, 3 * fault.each + 200ms + 400ms) << "full jitter over 200 and 400 ms";
  if (fault.status == 503) EXPECT_EQ(heard.reply.header("retry-after"), "1");
  EXPECT_EQ(world.provider(0).seen().total(), 0U);
  world.expect_rest();
}

TEST_P(FaultConnecting, TheFallbackAnswersAtOnce) {
  const auto& [fault, mode] = GetParam();
  World world(setup());
  reachable(world);
  fault.arrange(world);
  for (int i = 0; i < 5; ++i) {
    const Exchange heard = world.ask(mode.ask("backed"));
    EXPECT_EQ(heard.reply.status, 200);
    EXPECT_EQ(heard.story(), fault.kind + ",success");
    EXPECT_EQ(heard.took, fault.each);
    EXPECT_EQ(heard.reached(), 1);
  }
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Open);
  const Exchange after = world.ask(mode.ask("backed"));
  EXPECT_EQ(after.story(), "refused,success");
  EXPECT_EQ(after.took, 0ms);
  world.expect_rest();
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (const Case& fault : kCases) {
    for (const Mode mode : modes_of(Modes::Both)) out.push_back({fault, mode});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, FaultConnecting, ::testing::ValuesIn(params()), [](const auto& info) {
  return info.param.fault.name + "_" + info.param.mode.name();
});

TEST(FaultConnectingChain, NotSentAttemptsDoNotCountAgainstTheThree) {
  WorldSetup setup;
  setup.providers = 5;
  setup.routes =
      "  - {name: long, candidates: [{model: m0}], fallback: [{model: m1}, {model: m2}, {model: m3}, {model: "
      "m4}]}\n";
  World world(std::move(setup));
  for (std::size_t i = 0; i < 4; ++i)
    world.loop().set_connect(world.provider(i).address(), {net::ConnectOutcome::Refuse, {}});
  const Exchange heard = world.ask(chat("long"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "connect_failed,connect_failed,connect_failed,connect_failed,success");
  world.expect_rest();
}

TEST(FaultConnectingChain, ThreeThatReachedAProviderAreTheEnd) {
  WorldSetup setup;
  setup.providers = 5;
  setup.routes =
      "  - {name: long, candidates: [{model: m0}], fallback: [{model: m1}, {model: m2}, {model: m3}, {model: "
      "m4}]}\n";
  World world(std::move(setup));
  for (std::size_t i = 0; i < 4; ++i) world.provider(i).misbehave("fault=500");
  const Exchange heard = world.ask(chat("long"));
  EXPECT_EQ(heard.reply.status, 502);
  EXPECT_EQ(heard.story(), "server_error,server_error,server_error");
  EXPECT_EQ(world.provider(4).seen().total(), 0U);
  world.expect_rest();
}

TEST(FaultConnectingChain, ABarredFallbackLeavesTheRepeat) {
  World world;
  world.provider(1).misbehave("fault=500");
  for (int i = 0; i < 2; ++i) static_cast<void>(world.ask(chat("spare")));  // three attempts each
  ASSERT_EQ(world.health(1).state(), resilience::CircuitState::Open);
  world.run_for(10s);  // the retry budget fills again; the breaker is still open
  world.provider(0).scenario(R"({"rules":[{"model":"*","attempts":[{"fault":"500"}]}]})");
  const Exchange heard = world.ask(chat("backed"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "server_error,refused,success");
  world.expect_rest();
}

TEST(FaultConnectingChain, ABarredFallbackIsNotedOnce) {
  World world;
  world.health(1).account_dead().start(world.loop().now() + 1h);
  world.provider(0).scenario(R"({"rules":[{"model":"*","attempts":[{"fault":"500"},{"fault":"500"}]}]})");
  const Exchange heard = world.ask(chat("backed"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "server_error,refused,server_error,success");
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::faults_connecting
