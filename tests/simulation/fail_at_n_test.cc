// Every read, write, connect and resolve fails once: for every n, the n-th I/O call of a whole exchange
// breaks its connection. Nothing crashes, nothing leaks, and nobody takes half an answer for a whole one.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation::fail_at_n {
namespace {

struct Case {
  std::string name;
  std::string first;  // what p0 does
  Modes modes = Modes::Both;
};
const std::vector<Case> kCases = {
    {"fine", "words=6"},
    {"paced", "words=6; gap=50; ttft=50", Modes::Streamed},
    {"falls_back", "fault=500"},
    {"chunked", "words=6; chunk=40; split=25"},
    {"gzip", "words=6; fault=gzip"},
};

using Param = std::tuple<std::size_t, Mode>;
class FailAtN : public ::testing::TestWithParam<Param> {};

WorldSetup named_host() {
  WorldSetup setup;
  setup.base_host = "one.example";
  return setup;
}

TEST_P(FailAtN, GivesAllOrSaysSo) {
  const auto& [index, mode] = GetParam();
  const Case& which = kCases[index];
  std::string first;
  std::string second;
  std::uint64_t calls = 0;
  {
    World world(named_host());
    world.loop().set_name("one.example", {"127.0.0.1"});
    world.provider(0).misbehave(which.first);
    world.provider(1).misbehave("words=4");
    const std::uint64_t before = world.loop().io_calls();
    first = text_in(world.ask(mode.ask("backed")).reply);
    calls = world.loop().io_calls() - before;
    second = text_in(world.ask(mode.ask("spare")).reply);
  }
  ASSERT_GT(calls, 8U);
  int whole = 0;
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("I/O call {} of {}", n, calls));
    World world(named_host());
    world.loop().set_name("one.example", {"127.0.0.1"});
    world.provider(0).misbehave(which.first);
    world.provider(1).misbehave("words=4");
    world.loop().fail_io_call(n);
    const Exchange heard = world.ask(mode.ask("backed"));
    const bool error_event = heard.reply.body.find("\"error\":{") != std::string::npos ||
                             heard.reply.body.find("event: error") != std::string::npos;
    if (heard.reply.complete && heard.reply.status == 200 && !error_event) {
      const std::string text = text_in(heard.reply);
      EXPECT_TRUE(text == first || text == second) << heard.reply.body;
      ++whole;
    } else if (heard.reply.complete) {
      EXPECT_TRUE(heard.reply.status >= 400 || (mode.stream && heard.record && heard.record->interrupted))
          << heard.raw;
      EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
    } else {
      EXPECT_TRUE(heard.closed || heard.reset) << "the client waits for ever";
    }
    world.expect_rest();
  }
  EXPECT_GT(whole, 0);
  // A second exchange on warm connections: the pooled connection may break, too.
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("warm, I/O call {} of {}", n, calls));
    World world(named_host());
    world.loop().set_name("one.example", {"127.0.0.1"});
    world.provider(0).misbehave(which.first);
    world.provider(1).misbehave("words=4");
    static_cast<void>(world.ask(mode.ask("backed")));
    world.loop().fail_io_call(n);
    const Exchange heard = world.ask(mode.ask("backed"));
    if (heard.reply.complete && heard.reply.status == 200 &&
        heard.reply.body.find("\"error\":{") == std::string::npos &&
        heard.reply.body.find("event: error") == std::string::npos) {
      const std::string text = text_in(heard.reply);
      EXPECT_TRUE(text == first || text == second) << heard.reply.body;
    } else {
      EXPECT_TRUE(heard.reply.complete || heard.closed || heard.reset);
    }
    world.expect_rest();
  }
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    for (const Mode mode : modes_of(kCases[i].modes)) out.emplace_back(i, mode);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, FailAtN, ::testing::ValuesIn(params()), [](const auto& info) {
  return kCases[std::get<0>(info.param)].name + "_" + std::get<1>(info.param).name();
});

}  // namespace
}  // namespace qq::simulation::fail_at_n
