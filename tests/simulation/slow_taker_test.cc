// A client that takes its answer slowly: what it is told when its time is up, and what happens to bytes that
// wait for it.
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

using fakes::ScriptedUpstream;

WorldSetup timed(std::string timers, std::string limits = {}) {
  WorldSetup setup;
  setup.timers = std::move(timers);
  setup.limits = std::move(limits);
  return setup;
}

// --- time is up ---

// A client that reads nothing of a long answer until it is told to.
class TimeIsUp : public ::testing::Test {
 protected:
  void start(WorldSetup setup, const Ask& ask) {
    world_ = std::make_unique<World>(std::move(setup));
    world_->provider(0).misbehave("words=20000");
    world_->narrow(2'000);
    client_ = &world_->client();
    client_->stop_reading();
    client_->start(ask.bytes());
  }
  const KeptRecord& record() {
    EXPECT_EQ(world_->records().size(), 1U);
    return world_->records().at(0);
  }
  // That the client has an exact part of the stream, then the error.
  void expect_prefix_then(std::string_view code) {
    World plain;
    plain.provider(0).misbehave("words=20000");
    const std::string whole = plain.ask(chat("alone").streamed()).reply.body;
    const HttpReply& reply = client_->reply();
    EXPECT_TRUE(reply.complete);
    const std::size_t last = reply.body.rfind("data: ");
    ASSERT_NE(last, std::string::npos);
    EXPECT_TRUE(whole.starts_with(reply.body.substr(0, last)));
    EXPECT_GT(last, 1'000U);
    EXPECT_EQ(error_code_in(std::string_view(reply.body).substr(last + 6)), code);
  }
  void expect_nothing_against_the_provider() {
    EXPECT_EQ(world_->health(0).state(), resilience::CircuitState::Closed);
    EXPECT_EQ(story_of(record().attempts), "cancelled");
    world_->expect_rest();
  }
  std::unique_ptr<World> world_;
  Client* client_ = nullptr;
};

TEST_F(TimeIsUp, AtTheDrainsEndTheErrorFollowsWhatIsPending) {
  start({}, chat("alone").streamed());
  world_->run_for(1s);
  world_->start_drain(2s);
  world_->run_for(2'500ms);
  client_->read_again();
  world_->run_until_end(*client_);
  expect_prefix_then("gateway_shutting_down");
  world_->run_for(100ms);
  EXPECT_TRUE(record().interrupted);
  EXPECT_EQ(record().error->kind, ErrorKind::ShuttingDown);
  expect_nothing_against_the_provider();
}

TEST_F(TimeIsUp, AtTheDrainsEndWhoReadsNothingIsCutWithThatReason) {
  start({}, chat("alone").streamed());
  world_->run_for(1s);
  world_->start_drain(2s);
  world_->run_for(4'100ms);
  EXPECT_TRUE(record().interrupted) << "it had begun";
  EXPECT_EQ(record().error->kind, ErrorKind::ShuttingDown);
  EXPECT_TRUE(world_->drained());
  client_->leave(Client::Leave::Reset);
  expect_nothing_against_the_provider();
}

TEST_F(TimeIsUp, AtTheDeadlineTheErrorFollowsWhatIsPending) {
  start(timed("{total: 5s, heartbeat: 1h}"), chat("alone").streamed());
  world_->run_for(6s);
  client_->read_again();
  world_->run_until_end(*client_);
  expect_prefix_then("request_deadline");
  world_->run_for(100ms);
  EXPECT_TRUE(record().interrupted);
  EXPECT_EQ(record().error->kind, ErrorKind::TotalTimeout);
  expect_nothing_against_the_provider();
}

TEST_F(TimeIsUp, AtTheDeadlineWhoReadsNothingIsCutWithThatReason) {
  start(timed("{total: 5s, heartbeat: 1h}"), chat("alone").streamed());
  world_->run_for(7'100ms);
  EXPECT_EQ(record().error->kind, ErrorKind::TotalTimeout);
  EXPECT_EQ(record().error->origin, ErrorOrigin::Client) << "no slowness of the provider";
  client_->leave(Client::Leave::Reset);
  expect_nothing_against_the_provider();
}

TEST_F(TimeIsUp, AWholeAnswerThatIsTakenInTheLastMomentIsAnAnswer) {
  start(timed("{total: 5s}"), chat("alone"));
  world_->run_for(6s);
  client_->read_again();
  world_->run_until_end(*client_);
  EXPECT_EQ(client_->reply().status, 200);
  EXPECT_TRUE(client_->reply().complete);
  EXPECT_FALSE(wire::check_json(client_->reply().body)) << "it is whole";
  world_->run_for(100ms);
  EXPECT_FALSE(record().error);
  EXPECT_EQ(story_of(record().attempts), "success");
  world_->expect_rest();
}

TEST_F(TimeIsUp, AnAnswerTooLargeToHoldGetsNoErrorIntoItsJson) {
  start(timed("{total: 5s}", "{held_answer_max: 16KiB}"), chat("alone"));
  world_->run_for(5'100ms);
  client_->read_again();
  world_->run_until_end(*client_);
  EXPECT_EQ(client_->reply().status, 200);
  EXPECT_FALSE(client_->reply().complete) << "the client can tell";
  EXPECT_EQ(client_->reply().body.find("request_deadline"), std::string::npos);
  EXPECT_EQ(record().error->kind, ErrorKind::TotalTimeout);
  expect_nothing_against_the_provider();
}

// --- steady, and slower than the network has room again ---

class SlowButSteady : public ::testing::TestWithParam<Mode> {};

TEST_P(SlowButSteady, GetsItsWholeAnswer) {
  World plain;
  plain.provider(0).misbehave("words=1000");
  const std::string whole = plain.ask(GetParam().ask("alone")).reply.body;
  World world(timed("{client_write_stall: 5s, heartbeat: 1h}", "{held_answer_max: 1KiB}"));
  world.provider(0).misbehave("words=1000");
  const std::size_t window = whole.size() / 2;
  world.narrow(window);
  Client& client = world.client();
  client.read_slowly(window / 40, 500ms);  // ten seconds to half of it, at which there is room again
  client.start(GetParam().ask("alone").bytes());
  world.run_until_end(client);
  EXPECT_TRUE(client.reply().complete);
  EXPECT_EQ(client.reply().body.size(), whole.size());
  EXPECT_GT(client.ended() - client.started(), 30s);
  world.run_for(100ms);
  EXPECT_FALSE(world.records().at(0).error);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(SlowTaker, SlowButSteady, ::testing::ValuesIn(modes_of(Modes::Both)),
                         [](const auto& info) { return info.param.name(); });

TEST(SlowTaker, WhoStopsInTheMiddleIsCutAStallLater) {
  World world(timed("{client_write_stall: 5s}"));
  world.provider(0).misbehave("words=20000");
  world.narrow(100'000);
  Client& client = world.client();
  client.read_slowly(1'000, 500ms);
  client.start(chat("alone").streamed().bytes());
  world.run_for(20s);
  EXPECT_TRUE(world.records().empty()) << "it still reads";
  client.stop_reading();
  world.run_for(4'900ms);
  EXPECT_TRUE(world.records().empty());
  world.run_for(1'500ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientStalled);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

// A kernel takes some of an answer that nobody reads.
TEST(SlowTaker, WhoseKernelAloneTakesALittleIsCutAStallLater) {
  World world(timed("{client_write_stall: 5s}"));
  world.provider(0).misbehave("words=20000");
  world.narrow(100'000);
  Client& client = world.client();
  client.read_slowly(1'000, 100ms);
  client.start(chat("alone").streamed().bytes());
  world.run_for(500ms);
  client.stop_reading();
  world.run_for(4'400ms);
  EXPECT_TRUE(world.records().empty());
  world.run_for(1'500ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientStalled);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

// --- bytes that wait ---

std::string event(std::string_view text) {
  return fmt::format(
      R"(data: {{"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":null}}]}})"
      "\n\n",
      text);
}
constexpr std::string_view kEnd =
    R"(data: {"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
    "\n\ndata: [DONE]\n\n";
constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
constexpr std::string_view kBeat = ": keep-alive\n\n";

std::string joined(const auto&... parts) {
  std::string out;
  (out.append(parts), ...);
  return out;
}

Task<bool> request_comes(ScriptedUpstream& server, net::Stream& stream) {
  return ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
}

// A client, a provider with a script, and a heartbeat every second.
class BytesWait : public ::testing::Test {
 protected:
  explicit BytesWait() : world_(setup()) {}
  static WorldSetup setup() {
    WorldSetup setup = timed("{heartbeat: 1s}");
    setup.base_host = "127.0.0.2";
    return setup;
  }
  void provider_does(ScriptedUpstream::Script script) {
    server_.emplace(world_.loop(), net::Address::parse("127.0.0.2:9001").value(), script);
  }
  World world_;
  std::optional<ScriptedUpstream> server_;
};

Task<void> answer_late_at_once(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await request_comes(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::pause(server, 1'500ms);
  co_await ScriptedUpstream::write(stream, joined(kHead, event("one"), kEnd));
}

// The head and the events come in one read, while a heartbeat's bytes still wait for the client: the events
// are kept, since the loop's scratch is soon somebody else's.
TEST_F(BytesWait, WhatCameWithTheHeadIsKept) {
  provider_does(&answer_late_at_once);
  world_.narrow(6);
  Client& client = world_.client();
  client.stop_reading();
  client.start(chat("sim-gpt").streamed().bytes());
  world_.run_for(1'600ms);
  world_.narrow(256 * 1024);
  EXPECT_EQ(world_.ask(chat("spare", std::string(50'000, 'z'))).reply.status, 200);
  client.read_again();
  world_.run_until_end(client);
  EXPECT_EQ(client.reply().body, joined(kBeat, event("one"), kEnd));
  world_.expect_rest();
}

Task<void> pause_inside(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await request_comes(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, joined(kHead, event("one")));
  co_await ScriptedUpstream::pause(server, 1'500ms);
  co_await ScriptedUpstream::write(stream, joined(event("two"), kEnd));
}

TEST_F(BytesWait, TheRestOfAHeartbeatGoesBeforeTheNextEvent) {
  provider_does(&pause_inside);
  world_.narrow(6);
  Client& client = world_.client();
  client.start(chat("sim-gpt").streamed().bytes());
  world_.run_for(500ms);
  client.stop_reading();
  world_.run_for(1'200ms);
  client.read_again();
  world_.run_until_end(client);
  EXPECT_EQ(client.reply().body, joined(event("one"), kBeat, event("two"), kEnd));
  world_.expect_rest();
}

Task<void> linger_behind_the_end(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await request_comes(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, joined(kHead, event("one")));
  co_await ScriptedUpstream::pause(server, 980ms);
  co_await ScriptedUpstream::write(stream, std::string(kEnd));
  co_await ScriptedUpstream::pause(server, 5s);
}

TEST_F(BytesWait, NoHeartbeatFollowsTheStreamsEnd) {
  provider_does(&linger_behind_the_end);
  Client& client = world_.client();
  client.start(chat("sim-gpt").streamed().bytes(), 1, true);
  world_.run_for(3s);
  EXPECT_EQ(client.reply().body, joined(event("one"), kEnd));
  EXPECT_EQ(client.reader().rest(), "") << "and nothing behind it";
  client.leave(Client::Leave::Fin);
  world_.run_for(5s);
  world_.expect_rest();
}

TEST(SlowTaker, AFullBufferDoesNotEndAnUploadThatWaitsToContinue) {
  World world;
  world.narrow(10);
  const Ask ask = chat("alone");
  Client& client = world.client();
  client.start(
      fmt::format("POST {} HTTP/1.1\r\nhost: g\r\n{}expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
                  ask.path, kKeyLine, ask.body.size()));
  world.run_for(100ms);
  EXPECT_EQ(client.raw(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say(ask.body);
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200) << client.raw();
  EXPECT_EQ(client.reader().interim_replies(), 1);
  EXPECT_NE(text_in(client.reply()), "");
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
