// Several credentials at one provider: Retry-After holds per account and for the whole limit group, a dead
// key is left alone, and the client never hears of either while anyone else can answer.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

WorldSetup accounts(std::string list) {
  WorldSetup setup;
  setup.config = fmt::format(
      "listeners: [{{address: \"127.0.0.1:8080\"}}]\n"
      "providers:\n"
      "  - name: p0\n    kind: openai_compatible\n    base_url: \"http://127.0.0.1:9001/v1\"\n"
      "    allow_private_address: true\n    accounts: {}\n    limit_groups: [{{name: g}}]\n"
      "models: [{{name: m, provider: p0, upstream_name: sim-gpt}}]\n",
      list);
  setup.providers = 1;
  return setup;
}

// How often each key was used.
std::map<std::string, int> uses(World& world) {
  std::map<std::string, int> out;
  for (const simulator::SeenRequest& seen : world.provider(0).seen().requests()) {
    const std::size_t at = seen.head.find("Bearer ");
    ++out[seen.head.substr(at + 7, seen.head.find("\r\n", at) - at - 7)];
  }
  return out;
}

TEST(Accounts, RetryAfterIsObeyedPerAccount) {
  World world(accounts("[{name: a, credential: sk-a}, {name: b, credential: sk-b}]"));
  world.provider(0).scenario(R"({"rules":[{"key":"sk-a","attempts":[{"fault":"429","retry_after":"20"}]}]})");
  for (int i = 0; i < 38; ++i) {
    const Exchange heard = world.ask(chat("m"));
    EXPECT_EQ(heard.reply.status, 200);
    if (heard.story() == "rate_limited,success") EXPECT_EQ(heard.took, 0ms) << "the other account at once";
    if (uses(world)["sk-a"] == 0) continue;  // the plan begins with either
    world.run_for(500ms);
  }
  const int after_minute = uses(world)["sk-a"];
  EXPECT_EQ(after_minute, 1) << "left alone for 20 s";
  world.run_for(20s);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(world.ask(chat("m")).story(), "success");
  EXPECT_GT(uses(world)["sk-a"], 5) << "and used again afterwards";
  world.expect_rest();
}

TEST(Accounts, ALimitGroupRestsAsAWhole) {
  World world(
      accounts("[{name: a, credential: sk-a, limit_group: g}, {name: b, credential: sk-b, limit_group: g}, "
               "{name: c, credential: sk-c}]"));
  world.provider(0).scenario(R"({"rules":[{"key":"sk-a","do":{"fault":"429","retry_after":"20"}}]})");
  while (uses(world)["sk-a"] == 0) ASSERT_EQ(world.ask(chat("m")).reply.status, 200);
  const int before = uses(world)["sk-b"];
  for (int i = 0; i < 39; ++i) {
    EXPECT_EQ(world.ask(chat("m")).reply.status, 200);
    world.run_for(500ms);
  }
  EXPECT_EQ(uses(world)["sk-b"], before) << "the group's other account rests too";
  EXPECT_EQ(uses(world)["sk-a"], 1);
  world.expect_rest();
}

TEST(Accounts, ReadyIsWhoHasAKeyThatWorks) {
  constexpr const char* kReady = "GET /readyz HTTP/1.1\r\nhost: g\r\n\r\n";
  for (const auto& [fault, ready] : {std::pair("401", 503), std::pair("429", 200), std::pair("503", 200)}) {
    World world(accounts("[{name: a, credential: sk-a}, {name: b, credential: sk-b}]"));
    EXPECT_EQ(world.say(kReady).reply.status, 200) << "nothing was asked yet";
    world.provider(0).scenario(fmt::format(R"({{"rules":[{{"key":"sk-a","do":{{"fault":"{}"}}}}]}})", fault));
    for (int i = 0; i < 12; ++i) world.ask(chat("m"));
    EXPECT_EQ(world.say(kReady).reply.status, 200) << "the other key works";
    world.provider(0).misbehave(fmt::format("fault={}", fault));
    for (int i = 0; i < 12; ++i) world.ask(chat("m"));
    const Exchange asked = world.say(kReady);
    EXPECT_EQ(asked.reply.status, ready) << fault << asked.reply.body;
    EXPECT_EQ(asked.reply.body.find("\"ready\":true") != std::string::npos, ready == 200);
    world.run_for(301s);
    EXPECT_EQ(world.say(kReady).reply.status, 200) << "the next request finds out";
    world.expect_rest();
  }
}

TEST(Accounts, AllCoolingSaysWhenTheFirstIsBack) {
  World world(accounts("[{name: a, credential: sk-a}, {name: b, credential: sk-b}]"));
  world.provider(0).scenario(R"({"rules":[{"key":"sk-a","do":{"fault":"429","retry_after":"7"}},
                                          {"key":"sk-b","do":{"fault":"429","retry_after":"11"}}]})");
  const Exchange first = world.ask(chat("m"));
  EXPECT_EQ(first.reply.status, 429);
  EXPECT_EQ(first.story(), "rate_limited,rate_limited");
  EXPECT_EQ(first.reply.header("retry-after"), "7");
  EXPECT_EQ(first.reply.header("retry-after-ms"), "7000");
  world.run_for(2'300ms);
  for (const Ask& ask : {chat("m"), chat("m").streamed(), responses("m")}) {
    const Exchange second = world.ask(ask);
    EXPECT_TRUE(second.reply.status == 503 || second.reply.status == 429) << second.reply.status;
    EXPECT_EQ(second.story(), "refused,refused");
    EXPECT_EQ(second.reply.header("retry-after"), "5");
    EXPECT_EQ(second.reply.header("retry-after-ms"), "4700");
  }
  EXPECT_EQ(world.provider(0).seen().total(), 2U);
  world.expect_rest();
}

TEST(Accounts, ADeadKeyIsReplacedAndNeverTheClientsFault) {
  for (const std::string status : {"401", "402", "insufficient_quota"}) {
    World world(accounts("[{name: a, credential: sk-a}, {name: b, credential: sk-b}]"));
    world.provider(0).scenario(
        fmt::format(R"({{"rules":[{{"key":"sk-a","do":{{"fault":"{}"}}}}]}})", status));
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(world.ask(chat("m")).reply.status, 200) << status;
      world.run_for(5s);
    }
    EXPECT_EQ(uses(world)["sk-a"], 1) << "five minutes in peace";
    world.provider(0).scenario(fmt::format(R"({{"rules":[{{"model":"*","do":{{"fault":"{}"}}}}]}})", status));
    world.run_for(300s);
    const Exchange both = world.ask(chat("m"));
    EXPECT_EQ(both.reply.status, 503);
    EXPECT_EQ(both.reply.header("retry-after"), "300");
    EXPECT_EQ(both.reply.body.find("sk-"), std::string::npos);
    world.expect_rest();
  }
}

TEST(Accounts, AKeyThatMayNotUseTheModelIsReplacedToo) {
  World world(accounts("[{name: a, credential: sk-a}, {name: b, credential: sk-b}]"));
  world.provider(0).scenario(R"({"rules":[{"key":"sk-a","do":{"fault":"403"}}]})");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(world.ask(chat("m")).reply.status, 200);
  EXPECT_GT(uses(world)["sk-a"], 0);
  world.expect_rest();
}

TEST(Accounts, OneBadKeyOfFiveHarmsNobody) {
  std::string list = "[";
  for (int i = 0; i < 5; ++i)
    list += fmt::format("{}{{name: k{}, credential: sk-{}}}", i > 0 ? ", " : "", i, i);
  World world(accounts(list + "]"));
  world.provider(0).scenario(R"({"rules":[{"key":"sk-3","do":{"fault":"500"}}]})");
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(world.ask(chat("m")).reply.status, 200);
    world.run_for(100ms);
  }
  for (const auto& target : world.snapshot().targets) {
    const bool bad = target->account == "k3";
    EXPECT_EQ(world.snapshot().healths[target->index]->state() == resilience::CircuitState::Closed, !bad)
        << target->name;
  }
  EXPECT_LE(uses(world)["sk-3"], 7);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
