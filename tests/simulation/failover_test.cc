// The main provider is dead and two others are there, themselves not perfect: nearly nobody notices, and
// nobody waits long. Seeded; a failure prints the seed.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation::failover {
namespace {

struct Case {
  std::string name;
  void (*kill)(World& world);
  Milliseconds slowest{1'000};  // what the failing first attempt may add
};

const std::vector<Case> kCases = {
    {"refused",
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::Refuse, {}});
     }},
    {"reset", [](World& world) { world.provider(0).misbehave("fault=reset_before_head"); }},
    {"s500", [](World& world) { world.provider(0).misbehave("fault=500"); }},
    {"s429", [](World& world) { world.provider(0).misbehave("fault=429; retry_after=5"); }},
    {"black_hole",
     [](World& world) {
       world.loop().set_connect(world.provider(0).address(), {net::ConnectOutcome::BlackHole, {}});
     },
     4'000ms},
};

using Param = std::tuple<std::size_t, std::uint64_t>;
class FailOver : public ::testing::TestWithParam<Param> {};

TEST_P(FailOver, NearlyEverybodyIsServed) {
  const auto& [index, seed] = GetParam();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const Case& dead = kCases[index];
  constexpr int kRequests = 2'000;
  constexpr Milliseconds kAnswer{200};
  WorldSetup setup;
  setup.seed = seed;
  World world(std::move(setup));
  dead.kill(world);
  for (std::size_t i : {1U, 2U}) {
    world.provider(i).scenario(fmt::format(
        R"({{"seed":{},"rules":[{{"model":"*","mix":[{{"weight":95,"delay":200}},{{"weight":5,"fault":"500","delay":200}}]}}]}})",
        seed + i));
  }
  Random random(seed);
  Milliseconds at{0};
  std::vector<Client*> clients;
  for (int i = 0; i < kRequests; ++i) {
    Client& client = world.client();
    clients.push_back(&client);
    const bool stream = random.below(2) == 0;
    at += Milliseconds(random.below(400));
    world.loop().after(
        at, [&client, stream] { client.start((stream ? chat("chain").streamed() : chat("chain")).bytes()); });
  }
  world.run_for(at + 60s);
  int good = 0;
  Milliseconds slowest{0};
  for (const Client* client : clients) {
    const HttpReply& reply = client->reply();
    const bool ok = reply.status == 200 && reply.complete && !text_in(reply).empty() &&
                    reply.body.find("\"error\"") == std::string::npos;
    good += ok ? 1 : 0;
    EXPECT_FALSE(client->running());
    EXPECT_NE(reply.status, 401);
  }
  EXPECT_GE(good, kRequests * 999 / 1000);
  ASSERT_EQ(world.records().size(), static_cast<std::size_t>(kRequests));
  for (const KeptRecord& record : world.records()) {
    const auto reached = std::ranges::count_if(record.attempts, &model::Attempt::reached_provider);
    EXPECT_LE(reached, 3);
    // What the request took beyond the answers of those that did answer.
    const auto took = std::chrono::duration_cast<Milliseconds>(record.ended - record.started);
    const auto answering = std::ranges::count_if(record.attempts, [](const model::Attempt& attempt) {
      return attempt.target->provider != "p0" && attempt.outcome != model::Outcome::Refused;
    });
    slowest = std::max(slowest, took - answering * kAnswer);
  }
  EXPECT_LE(slowest, dead.slowest);
  // An open breaker lets one probe through now and then; a cool-down comes to its end and starts again.
  EXPECT_LE(world.provider(0).seen().total(), 120U);
  if (dead.name != "s429") EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Open);
  world.expect_rest();
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    for (const std::uint64_t seed : {11U, 12U}) out.emplace_back(i, seed);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, FailOver, ::testing::ValuesIn(params()), [](const auto& info) {
  return fmt::format("{}_seed{}", kCases[std::get<0>(info.param)].name, std::get<1>(info.param));
});

TEST(FallbackReason, TellsWhyAnotherTargetAnswers) {
  World world;
  EXPECT_EQ(world.ask(chat("chain")).reply.header("x-fallback-reason"), std::nullopt);
  world.provider(0).misbehave("fault=500");
  for (const bool stream : {false, true}) {
    const Exchange heard = world.ask(stream ? chat("chain").streamed() : chat("chain"));
    EXPECT_EQ(heard.reply.header("x-fallback-reason"), "server_error") << heard.raw;
  }
}

TEST(FallbackReason, ARepeatAtTheSameTargetIsNoFallback) {
  World world;
  world.provider(0).scenario(R"({"rules":[{"model":"*","attempts":[{"fault":"500"}]}]})");
  const Exchange heard = world.ask(chat("alone"));
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  EXPECT_EQ(heard.story(), "server_error,success");
  EXPECT_EQ(heard.reply.header("x-fallback-reason"), std::nullopt);
}

TEST(BreakerInTheRelay, OpensAfterFiveAndProbesInDoublingPeriods) {
  World world;
  world.provider(0).misbehave("fault=500");
  const auto story = [&] { return world.ask(chat("backed")).story(); };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(story(), "server_error,success");
  for (const Milliseconds period : {15'000ms, 30'000ms, 60'000ms, 120'000ms, 120'000ms}) {
    EXPECT_EQ(story(), "refused,success");
    world.run_for(period - 1ms);
    EXPECT_EQ(story(), "refused,success") << period.count();
    world.run_for(1ms);
    EXPECT_EQ(story(), "server_error,success") << "the probe after " << period.count();
  }
  world.provider(0).behave();
  world.run_for(120s);
  EXPECT_EQ(story(), "success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  EXPECT_EQ(story(), "success");
  world.expect_rest();
}

TEST(BreakerInTheRelay, OneProbeAtATime) {
  World world;
  world.provider(0).misbehave("fault=500");
  for (int i = 0; i < 5; ++i) static_cast<void>(world.ask(chat("backed")));
  world.run_for(15s);
  world.provider(0).misbehave("delay=2000");
  const std::uint64_t before = world.provider(0).seen().total();
  std::vector<Client*> clients = world.start_many(10, chat("backed"));
  world.run_for(5s);
  EXPECT_EQ(world.provider(0).seen().total(), before + 1);
  for (const Client* client : clients) EXPECT_EQ(client->reply().status, 200);
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::HalfOpen) << "on trial";
  EXPECT_EQ(world.ask(chat("backed")).story(), "success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::HalfOpen);
  world.run_for(10s);
  EXPECT_EQ(world.ask(chat("backed")).story(), "success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed) << "thirty seconds after it opened";
  world.expect_rest();
}

// Opens p0's breaker at the main route.
void open_breaker(World& world) {
  world.provider(0).misbehave("fault=500");
  for (int i = 0; i < 5; ++i) static_cast<void>(world.ask(chat("backed")));
  ASSERT_EQ(world.health(0).state(), resilience::CircuitState::Open);
}

TEST(BreakerInTheRelay, AProbeIsSettledAtItsFirstContent) {
  World world;
  open_breaker(world);
  world.run_for(30s);
  world.provider(0).misbehave("gap=1000; words=60");
  Client& client = world.start(chat("backed").streamed());
  world.run_for(1ms);
  EXPECT_EQ(world.counters().requests_in_flight.get(), 1);
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.provider(0).behave();
  EXPECT_EQ(world.ask(chat("backed")).story(), "success") << "while the probe's stream goes on";
  world.run_until_end(client);
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

TEST(BreakerInTheRelay, ACutBehindAProbesContentIsAFailureOfItsOwn) {
  World world;
  open_breaker(world);
  world.run_for(15s);
  world.provider(0).misbehave("fault=close_mid_body; at=5; gap=20");
  EXPECT_EQ(world.ask(chat("backed").streamed()).story(), "stream_cut");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Open) << "that was on trial";
  EXPECT_EQ(world.health(0).times_opened(), 2U);
  world.run_for(30s);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(world.ask(chat("backed").streamed()).story(), "stream_cut");
    const auto now = world.health(0).state();
    EXPECT_EQ(now, i < 4 ? resilience::CircuitState::Closed : resilience::CircuitState::Open) << i;
  }
  world.expect_rest();
}

TEST(BreakerInTheRelay, AClientThatLeavesAProbesStreamChangesNothing) {
  World world;
  open_breaker(world);
  world.run_for(30s);
  world.provider(0).misbehave("gap=1000; words=60");
  Client& client = world.start(chat("backed").streamed());
  world.run_for(5s);
  client.leave(Client::Leave::Reset);
  world.run_for(1s);
  EXPECT_EQ(story_of(world.records().back().attempts), "cancelled");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

TEST(BreakerInTheRelay, TheLastCandidateIsTriedAllTheSame) {
  World world;
  world.provider(0).misbehave("fault=500");
  for (int i = 0; i < 3; ++i) static_cast<void>(world.ask(chat("alone")));
  ASSERT_EQ(world.health(0).state(), resilience::CircuitState::Open);
  world.provider(0).behave();
  EXPECT_EQ(world.ask(chat("alone")).story(), "refused,success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::HalfOpen) << "on trial";
  EXPECT_EQ(world.ask(chat("alone")).story(), "success");
  world.run_for(30s);
  EXPECT_EQ(world.ask(chat("alone")).story(), "success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

TEST(BreakerInTheRelay, AFlappingProviderDoesNotMakeItFlap) {
  World world;
  world.provider(0).scenario(
      R"({"rules":[{"model":"*","flap":{"up_ms":10000,"down_ms":10000},"do":{"fault":"503"}}]})");
  int bad = 0;
  int openings = 0;
  std::optional<MonotonicTime> opened;
  for (int i = 0; i < 2'400; ++i) {
    const resilience::CircuitState before = world.health(0).state();
    bad += world.ask(chat("backed")).reply.status == 200 ? 0 : 1;
    if (before == resilience::CircuitState::Closed &&
        world.health(0).state() == resilience::CircuitState::Open) {
      const MonotonicTime now = world.loop().now();
      if (opened) EXPECT_GE(now - *opened, 30s);
      opened = now;
      ++openings;
    }
    world.run_for(250ms);
  }
  EXPECT_EQ(bad, 0);
  EXPECT_GE(openings, 1);
  EXPECT_LE(openings, 20);
  world.expect_rest();
}

TEST(RetryBudget, ARefusedRepeatIsCounted) {
  World world;
  world.provider(0).misbehave("fault=500");
  std::vector<Client*> clients = world.start_many(4, chat("alone"));
  world.run_for(0ns);
  EXPECT_EQ(world.counters().retry_budget_overflows.get(), 1) << "four want a repeat, the floor has three";
  world.run_for(30s);
  for (const Client* client : clients) EXPECT_EQ(client->reply().status, 502);
  world.expect_rest();
}

TEST(RetryBudget, AnHourOfErrorsIsNotMultiplied) {
  World world;
  world.provider(0).misbehave("fault=500");
  constexpr int kRequests = 1'200;
  for (int i = 0; i < kRequests; ++i) {
    EXPECT_EQ(world.ask(chat("alone")).reply.status, 502);
    world.run_for(3s);
  }
  EXPECT_LE(world.provider(0).seen().total(), static_cast<std::uint64_t>(kRequests) * 12 / 10);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::failover
