// What the gateway adds to a request, by its own account. On virtual time it takes none, so whatever is left
// of a request's duration was counted for nobody.
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

void expect_none(World& world, std::chrono::nanoseconds at_least) {
  world.run_for(100ms);
  ASSERT_FALSE(world.records().empty());
  const KeptRecord& record = world.records().back();
  EXPECT_GE(record.ended - record.started, at_least) << "it did take long";
  EXPECT_EQ(record.overhead, 0ns) << "of " << (record.ended - record.started).count() << " ns";
  world.expect_rest();
}

void say_slowly(World& world, Client& client, const std::string& bytes, std::size_t piece) {
  client.start(bytes.substr(0, piece));
  for (std::size_t at = piece; at < bytes.size(); at += piece) {
    world.run_for(100ms);
    client.say(std::string_view(bytes).substr(at, piece));
  }
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200) << client.raw();
}

TEST(Overhead, IsNotASlowUpload) {
  World world;
  const std::string bytes = chat("alone", std::string(30'000, 'y')).bytes();
  say_slowly(world, world.client(), bytes, 1'000);
  expect_none(world, 2'900ms);
}

TEST(Overhead, IsNotASlowHead) {
  World world;
  say_slowly(world, world.client(), chat("alone").bytes(), 20);
  expect_none(world, 500ms);
}

TEST(Overhead, IsNotAClientThatTakesItsAnswerSlowly) {
  for (const Ask& ask : {chat("alone"), chat("alone").streamed()}) {
    World world;
    world.provider(0).misbehave("words=2000");
    world.narrow(1'000);
    Client& client = world.client();
    client.read_slowly(500, 100ms);
    client.start(ask.bytes());
    world.run_until_end(client);
    EXPECT_EQ(client.reply().status, 200);
    expect_none(world, 1s);
  }
}

TEST(Overhead, IsNotAPauseBeforeARepeat) {
  World world;
  world.provider(0).misbehave("fault=429; retry_after=1");
  EXPECT_EQ(world.ask(chat("alone")).story(), "rate_limited,rate_limited,rate_limited");
  expect_none(world, 2s);
}

TEST(Overhead, IsNotASlowErrorBody) {
  World world;
  world.provider(0).misbehave("fault=400; rate=100");
  EXPECT_EQ(world.ask(chat("alone")).story(), "refused");
  expect_none(world, 500ms);
}

}  // namespace
}  // namespace qq::simulation
