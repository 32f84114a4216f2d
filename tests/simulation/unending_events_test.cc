// Providers whose event, or line, does not come to its end: what is kept of it has a limit.
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation::unending {
namespace {

using fakes::ScriptedUpstream;

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
constexpr std::string_view kContent =
    R"(data: {"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":null}]})"
    "\n\n";

WorldSetup scripted() {
  WorldSetup setup;
  setup.base_host = "127.0.0.2";
  setup.limits = "{event_max: 16KiB}";
  return setup;
}
net::Address provider_address() {
  return net::Address::parse("127.0.0.2:9001").value();
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// A few megabytes of such lines.
Task<void> say_lines(ScriptedUpstream& server, net::Stream& stream, std::string_view before,
                     std::string_view line) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  bool taken = co_await ScriptedUpstream::write(stream, std::string(kHead).append(before));
  const std::string lines = repeated(line, 500);
  for (int i = 0; i < 1'000 && taken; ++i) taken = co_await ScriptedUpstream::write(stream, lines);
}

struct Case {
  std::string name;
  ScriptedUpstream::Script script;
  bool delivers = false;
};
// clang-format off
const std::vector<Case> kCases = {
    {"ids", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, "", "id: 1\n"); }},
    {"ids_behind_content", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, kContent, "id: 1\n"); }, true},
    {"empty_data", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, "", "data:\n"); }},
    {"empty_data_behind_content", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, kContent, "data:\r\n"); }, true},
    {"names", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, "", "event: x\r"); }},
    {"comments_inside", [](ScriptedUpstream& server, net::Stream& stream) { return say_lines(server, stream, "data: x\n", ": x\n"); }},
};
// clang-format on

class UnendingEvent : public ::testing::TestWithParam<Case> {};

TEST_P(UnendingEvent, MeetsTheLimitOfOne) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), provider_address(), GetParam().script);
  Client& client = world.start(chat("sim-gpt").streamed());
  world.run_until_end(client);
  world.run_for(100ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), "event_too_big");
  EXPECT_EQ(world.records()[0].attempts[0].delivered, GetParam().delivers);
  // The limit, and what a read and the simulated network hold.
  EXPECT_LT(world.counters().bytes_from_upstreams.get(), 300'000);
  EXPECT_TRUE(server.idle());
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, UnendingEvent, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Each piece ends inside of a line.
Task<void> say_comments(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, std::string(kHead).append(kContent).append(": wa"));
  for (int i = 0; i < 20; ++i) {
    co_await ScriptedUpstream::pause(server, 100ms);
    co_await ScriptedUpstream::write(stream, "it\n" + repeated(": wait\n", 999) + ": wa");
  }
  co_await ScriptedUpstream::pause(server, 10s);
}

TEST(UnendingComments, GoOutAndLeaveNothingBehind) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), provider_address(), &say_comments);
  Client& client = world.start(chat("sim-gpt").streamed());
  world.run_for(5s);
  EXPECT_TRUE(client.raw().ends_with(": wait\n\r\n")) << "the last chunk so far";
  EXPECT_EQ(replaced_all(client.raw(), ": wait\n", "").size() + 20 * 1'000 * 7, client.raw().size());
  client.leave(Client::Leave::Reset);
  world.run_for(10s);
  world.expect_rest();
}

// For six seconds, one of these each 300 ms.
Task<void> say_slowly(ScriptedUpstream& server, net::Stream& stream, std::string_view piece) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  bool taken = co_await ScriptedUpstream::write(stream, std::string(kHead).append(kContent));
  for (int i = 0; i < 20 && taken; ++i) {
    co_await ScriptedUpstream::pause(server, 300ms);
    taken = co_await ScriptedUpstream::write(stream, std::string(piece));
  }
  if (taken) co_await ScriptedUpstream::write(stream, "\n\ndata: [DONE]\n\n");
}

struct Slow {
  std::string name;
  ScriptedUpstream::Script script;
  bool is_silence = false;
};
// clang-format off
const std::vector<Slow> kSlow = {
    {"comments", [](ScriptedUpstream& server, net::Stream& stream) { return say_slowly(server, stream, ": thinking\n\n"); }},
    {"comments_without_blank_lines", [](ScriptedUpstream& server, net::Stream& stream) { return say_slowly(server, stream, ": thinking\n"); }},
    {"blank_lines", [](ScriptedUpstream& server, net::Stream& stream) { return say_slowly(server, stream, "\r\n"); }},
    {"a_byte_of_a_line", [](ScriptedUpstream& server, net::Stream& stream) { return say_slowly(server, stream, ":"); }, true},
    {"a_byte_of_an_event", [](ScriptedUpstream& server, net::Stream& stream) { return say_slowly(server, stream, "d"); }, true},
};
// clang-format on

class EventGap : public ::testing::TestWithParam<Slow> {};

TEST_P(EventGap, EndsWithAWholeLine) {
  WorldSetup setup = scripted();
  setup.timers = "{event_gap: 1s, heartbeat: 1h}";
  World world(std::move(setup));
  ScriptedUpstream server(world.loop(), provider_address(), GetParam().script);
  Client& client = world.start(chat("sim-gpt").streamed());
  world.run_until_end(client);
  EXPECT_EQ(client.ended() - client.started(), GetParam().is_silence ? 1s : 6s);
  world.run_for(500ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), GetParam().is_silence ? "event_gap_timeout" : "success");
  EXPECT_TRUE(server.idle());
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, EventGap, ::testing::ValuesIn(kSlow),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace qq::simulation::unending
