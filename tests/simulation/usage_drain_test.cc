// Providers that bill on when a client has left: read on for the usage, within limits.
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

WorldSetup draining() {
  WorldSetup setup;
  setup.of_providers = ", drain_for_usage: true";
  return setup;
}

struct Case {
  std::string name;
  std::string directives;  // an answer of about six seconds
  bool stream = true;
  std::string limits;
};
const std::vector<Case> kCases = {
    {"stream", "words=12; gap=500"},
    {"stream_before_content", "words=12; ttft=5000"},
    {"stream_before_head", "words=12; delay=5000"},
    {"whole", "words=200; rate=250", false},
    {"whole_before_head", "words=12; delay=5000", false},
    {"too_large_to_hold", "words=1000; rate=1000", false, "{held_answer_max: 1KiB}"},
};

class DrainForUsage : public ::testing::TestWithParam<std::tuple<Case, Client::Leave>> {};

TEST_P(DrainForUsage, RecordsWhatTheAnswerCost) {
  const auto& [answer, how] = GetParam();
  WorldSetup setup = draining();
  setup.limits = answer.limits;
  World world(std::move(setup));
  world.provider(0).misbehave(answer.directives);
  const Ask ask = answer.stream ? chat("alone").streamed() : chat("alone");
  const Exchange whole = world.ask(ask);
  ASSERT_EQ(whole.record->usage.source, model::UsageSource::Provider);
  ASSERT_GE(whole.took, 3s);
  ASSERT_LE(whole.took, 10s);

  Client& client = world.start(ask);
  world.run_for(2s);
  client.leave(how);
  world.run_for(10s);
  ASSERT_EQ(world.records().size(), 2U);
  const KeptRecord& record = world.records().back();
  EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(story_of(record.attempts), "cancelled");
  EXPECT_EQ(record.usage.source, model::UsageSource::Provider);
  EXPECT_EQ(record.usage.output_text, whole.record->usage.output_text);
  EXPECT_EQ(record.usage.input_uncached, whole.record->usage.input_uncached);
  ASSERT_EQ(record.attempts.size(), 1U);
  EXPECT_EQ(record.attempts[0].usage.source, model::UsageSource::Provider);
  EXPECT_LE(record.ended - record.started, whole.took + 100ms) << "no longer than the answer";
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  EXPECT_EQ(world.counters().requests_in_flight.get(), 0);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, DrainForUsage,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values(Client::Leave::Fin, Client::Leave::Reset)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) == Client::Leave::Fin ? "_fin" : "_reset");
                         });

TEST(DrainForUsageLimits, OffUnlessTheProviderIsOneOfThose) {
  for (const std::string_view directives : {"words=12; gap=500", "words=12; delay=5000"}) {
    World world;
    world.provider(0).misbehave(directives);
    Client& client = world.start(chat("alone").streamed());
    world.run_for(2s);
    client.leave(Client::Leave::Reset);
    world.run_for(1s);
    ASSERT_EQ(world.records().size(), 1U) << directives;
    EXPECT_EQ(world.records()[0].usage.source, model::UsageSource::None);
    world.expect_rest();
  }
}

TEST(DrainForUsageLimits, TenSecondsAtMost) {
  for (const std::string_view directives : {"words=100; gap=3000", "fault=stall_mid_body; at=3",
                                            "delay=14000", "words=100; delay=5000; gap=3000"}) {
    World world(draining());
    world.provider(0).misbehave(directives);
    Client& client = world.start(chat("alone").streamed());
    world.run_for(2s);
    client.leave(Client::Leave::Reset);
    const MonotonicTime left = world.loop().now();
    world.run_for(11s);
    ASSERT_EQ(world.records().size(), 1U) << directives;
    EXPECT_EQ(world.records()[0].ended - left, 10s) << directives;
    EXPECT_EQ(world.records()[0].usage.source, model::UsageSource::None);
    EXPECT_EQ(world.provider(0).seen().in_flight(), 0U) << "then it is cut";
    world.expect_rest();
  }
}

using fakes::ScriptedUpstream;

// A whole stream or one that fails, whose connection stays open behind it.
constexpr std::string_view kBeginning =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    R"(data: {"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":null}]})"
    "\n\n";
constexpr std::string_view kGoodEnd =
    R"(data: {"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
    "\n\ndata: [DONE]\n\n";
constexpr std::string_view kWhole =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 165\r\n\r\n"
    R"({"id":"1","object":"chat.completion","model":"sim-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"one"},"finish_reason":"stop"}],"usage":null   })";
constexpr std::string_view kBadEnd = R"(data: {"error":{"message":"lost","type":"server_error"}})"
                                     "\n\n";

Task<void> say_and_stay(ScriptedUpstream& server, net::Stream& stream, std::string_view end) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, std::string(kBeginning).append(end));
  co_await ScriptedUpstream::pause(server, 30s);
}
Task<void> end_and_stay(ScriptedUpstream& server, net::Stream& stream) {
  return say_and_stay(server, stream, kGoodEnd);
}
Task<void> fail_and_stay(ScriptedUpstream& server, net::Stream& stream) {
  return say_and_stay(server, stream, kBadEnd);
}

TEST(DrainForUsageLimits, NothingIsAwaitedBehindAStreamThatIsOver) {
  for (const ScriptedUpstream::Script script : {&end_and_stay, &fail_and_stay}) {
    WorldSetup setup = draining();
    setup.base_host = "127.0.0.2";
    World world(std::move(setup));
    ScriptedUpstream server(world.loop(), net::Address::parse("127.0.0.2:9001").value(), script);
    world.narrow(20);
    Client& client = world.client();
    client.stop_reading();
    client.start(chat("sim-gpt").streamed().bytes());
    world.run_for(1s);
    client.leave(Client::Leave::Reset);
    world.run_for(100ms);
    EXPECT_EQ(world.records().size(), 1U);
    world.run_for(30s);
    EXPECT_TRUE(server.idle());
    world.expect_rest();
  }
}

constexpr std::string_view kUsage = R"("usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12})";

Task<void> end_without_a_blank_line(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  const std::size_t body_at = kBeginning.find("\r\n\r\n") + 4;
  const std::string last =
      fmt::format(R"(data: {{"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[],{}}})"
                  "\n",
                  kUsage);
  co_await ScriptedUpstream::write(
      stream, fmt::format("{}content-length: {}\r\n\r\n{}", kBeginning.substr(0, body_at - 2),
                          kBeginning.size() - body_at + last.size(), kBeginning.substr(body_at)));
  co_await ScriptedUpstream::pause(server, 3s);
  co_await ScriptedUpstream::write(stream, last);
}
// Whole answers that say first what they cost, at a time when nobody listens any more.
Task<void> say_usage_first(ScriptedUpstream& server, net::Stream& stream, Milliseconds head_after) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  const std::string beginning = fmt::format(R"({{{},"choices":[{{"index":0,"message":{{"content":")", kUsage);
  const std::string end = std::string(100'000, 'x') + R"("},"finish_reason":"stop"}]})";
  co_await ScriptedUpstream::pause(server, head_after);
  const bool heard = co_await ScriptedUpstream::write(
      stream, fmt::format("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
                          beginning.size() + end.size(), beginning));
  co_await ScriptedUpstream::pause(server, 3s);
  if (heard) co_await ScriptedUpstream::write(stream, end);
}
Task<void> say_usage_at_once(ScriptedUpstream& server, net::Stream& stream) {
  return say_usage_first(server, stream, 0s);
}
Task<void> say_usage_later(ScriptedUpstream& server, net::Stream& stream) {
  return say_usage_first(server, stream, 3s);
}

struct Scripted {
  std::string name;
  ScriptedUpstream::Script script;
  bool stream = false;
};
class DrainOfAScript : public ::testing::TestWithParam<Scripted> {};

TEST_P(DrainOfAScript, FindsItsUsage) {
  WorldSetup setup = draining();
  setup.base_host = "127.0.0.2";
  World world(std::move(setup));
  ScriptedUpstream server(world.loop(), net::Address::parse("127.0.0.2:9001").value(), GetParam().script);
  Client& client = world.start(GetParam().stream ? chat("sim-gpt").streamed() : chat("sim-gpt"));
  world.run_for(1s);
  client.leave(Client::Leave::Reset);
  world.run_for(8s);
  ASSERT_EQ(world.records().size(), 1U);
  const KeptRecord& record = world.records()[0];
  EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(record.usage.source, model::UsageSource::Provider);
  EXPECT_EQ(record.usage.input_total(), 5);
  EXPECT_EQ(record.usage.output_total(), 7);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, DrainOfAScript,
                         ::testing::Values(Scripted{"in_an_event_without_an_end", &end_without_a_blank_line,
                                                    true},
                                           Scripted{"in_front_of_what_was_held", &say_usage_at_once},
                                           Scripted{"in_front_of_what_nobody_awaits", &say_usage_later}),
                         [](const auto& info) { return info.param.name; });

TEST(DrainForUsageLimits, OneInFiftyOfThoseInFlightAndOneAlways) {
  for (const int others : {0, 96, 97}) {
    World world(draining());
    world.provider(0).misbehave("words=12; gap=500");
    world.provider(1).misbehave("words=200; gap=500");
    world.start_many(others, chat("spare").streamed());
    const std::vector<Client*> leaving = world.start_many(3, chat("alone").streamed());
    world.run_for(2s);
    for (Client* client : leaving) client->leave(Client::Leave::Reset);
    world.run_for(8s);
    int drained = 0;
    for (const KeptRecord& record : world.records()) {
      drained += record.usage.source == model::UsageSource::Provider ? 1 : 0;
    }
    EXPECT_EQ(world.records().size(), 3U);
    EXPECT_EQ(drained, others + 3 >= 100 ? 2 : 1) << others;
    world.run_for(120s);
    world.expect_rest();
  }
}

TEST(DrainForUsageLimits, AShutdownWaitsForItAsForOtherRequests) {
  for (const std::string_view directives : {"words=12; gap=500", "words=12; delay=5000"}) {
    World world(draining());
    world.provider(0).misbehave(directives);
    Client& client = world.start(chat("alone").streamed());
    world.run_for(2s);
    client.leave(Client::Leave::Reset);
    world.run_for(1s);
    world.start_drain(5min);
    world.run_for(1s);
    EXPECT_EQ(world.counters().requests_in_flight.get(), 1) << directives;
    EXPECT_FALSE(world.drained());
    world.run_for(4s);
    EXPECT_TRUE(world.drained()) << directives;
    ASSERT_EQ(world.records().size(), 1U);
    EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientGone);
    EXPECT_EQ(world.records()[0].usage.source, model::UsageSource::Provider) << directives;
    world.expect_rest();
  }
}

TEST(DrainForUsageLimits, AShutdownWaitsNoLongerThanItsDrainTime) {
  for (const std::string_view directives : {"words=100; gap=300", "delay=14000"}) {
    for (const bool cut_short : {false, true}) {
      World world(draining());
      world.provider(0).misbehave(directives);
      Client& client = world.start(chat("alone").streamed());
      world.run_for(2s);
      client.leave(Client::Leave::Reset);
      world.run_for(1s);
      world.start_drain(cut_short ? Milliseconds(5min) : Milliseconds(3s));
      world.run_for(2'900ms);
      EXPECT_EQ(world.counters().requests_in_flight.get(), 1) << directives;
      if (cut_short) world.cut_drain_short();
      world.run_for(cut_short ? 1s : 150ms);
      EXPECT_EQ(world.counters().requests_in_flight.get(), 0) << directives;
      world.run_for(100ms);
      EXPECT_TRUE(world.drained()) << directives;
      ASSERT_EQ(world.records().size(), 1U);
      EXPECT_EQ(world.records()[0].usage.source, model::UsageSource::None);
      world.expect_rest();
    }
  }
}

Task<void> answer_once_then_close(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, std::string(kWhole));
  co_await ScriptedUpstream::pause(server, 300ms);
}

// A connection that was used again and breaks is replaced, but for a client only.
TEST(DrainForUsageLimits, NothingIsSentAgainForAClientThatHasLeft) {
  WorldSetup setup = draining();
  setup.base_host = "127.0.0.2";
  World world(std::move(setup));
  ScriptedUpstream server(world.loop(), net::Address::parse("127.0.0.2:9001").value(),
                          &answer_once_then_close);
  EXPECT_EQ(world.ask(chat("sim-gpt")).reply.status, 200);
  Client& client = world.start(chat("sim-gpt"));
  world.run_for(100ms);
  client.leave(Client::Leave::Reset);
  world.run_for(100ms);
  EXPECT_EQ(world.counters().requests_in_flight.get(), 1) << "it is waited for";
  world.run_for(2s);
  ASSERT_EQ(world.records().size(), 2U);
  EXPECT_EQ(world.records()[1].error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(story_of(world.records()[1].attempts), "cancelled");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_TRUE(server.idle());
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
