// A pooled connection that fails under a request: stale, so that nobody need know, or an attempt that failed?
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation::resend {
namespace {

using fakes::ScriptedUpstream;

constexpr std::string_view kAddress = "127.0.0.2:9001";
constexpr std::string_view kAnswer =
    R"({"id":"1","object":"chat.completion","model":"sim-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"well"},"finish_reason":"stop"}]})";

std::size_t requests_in(std::string_view received) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = received.find("POST /", at)) != std::string_view::npos; ++at) ++count;
  return count;
}

// The last of that many; a request of the tests ends with its body's brace.
bool has_whole_request(std::string_view received, std::size_t count) {
  return requests_in(received) == count && received.ends_with("}]}");
}

// Answers a connection's first request and closes on its second, which it has read, after a while.
template <int kMilliseconds>
Task<void> close_on_the_second(ScriptedUpstream& server, net::Stream& stream) {
  const std::size_t before = requests_in(server.received());
  bool more = true;
  while (more && !has_whole_request(server.received(), before + 1)) {
    more = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  }
  if (!more) co_return;
  std::string answer =
      fmt::format("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
                  kAnswer.size(), kAnswer);
  co_await ScriptedUpstream::write(stream, std::move(answer));
  while (more && !has_whole_request(server.received(), before + 2)) {
    more = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  }
  constexpr Milliseconds kWhile{kMilliseconds};
  co_await ScriptedUpstream::pause(server, kWhile);
}

WorldSetup scripted() {
  WorldSetup setup;
  setup.base_host = "127.0.0.2";
  return setup;
}

struct Reused {
  explicit Reused(ScriptedUpstream::Script script)
      : world(scripted()), server(world.loop(), net::Address::parse(kAddress).value(), script) {
    EXPECT_EQ(world.ask(chat("alone")).story(), "success");
    heard = world.ask(chat("alone"));
    EXPECT_EQ(world.counters().upstream_reuses.get(), 1);
    world.upstream().close_idle();
    world.run_for(10s);
    EXPECT_TRUE(server.idle());
  }
  World world;
  ScriptedUpstream server;
  Exchange heard;
};

TEST(Resend, OfARequestThatMetAClosedConnectionIsSilentAndCounted) {
  Reused reused(&close_on_the_second<0>);
  EXPECT_EQ(reused.heard.story(), "success");
  EXPECT_EQ(requests_in(reused.server.received()), 3U);
  EXPECT_EQ(reused.world.counters().upstream_resends.get(), 1);
}

TEST(Resend, IsAnAttemptOfItsOwnWhereTheProviderMayHaveWorked) {
  Reused reused(&close_on_the_second<2'000>);
  EXPECT_EQ(reused.heard.reply.status, 200);
  EXPECT_EQ(reused.heard.story(), "early_close,success");
  EXPECT_TRUE(reused.heard.reply.header("x-queqiao-attempts").value_or("").contains("early_close"));
  EXPECT_EQ(reused.heard.reached(), 2);
  EXPECT_EQ(requests_in(reused.server.received()), 3U);
  EXPECT_EQ(reused.world.counters().upstream_resends.get(), 0);
}

}  // namespace
}  // namespace qq::simulation::resend
