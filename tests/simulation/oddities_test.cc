// What providers do that is odd and no fault: the client reads the same answer.
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation::oddities {
namespace {

struct Case {
  std::string name;
  std::string directives;
  Modes modes = Modes::Both;
  bool reusable = true;  // the provider's connection serves the next request
};

// clang-format off
const std::vector<Case> kCases = {
    {"http10", "fault=http10", Modes::Both, false},
    {"chunk_extensions", "fault=chunk_extensions"},
    {"continue_100", "fault=continue_100"},
    {"early_hints", "fault=early_hints"},
    {"keep_alive_lie", "fault=keep_alive_lie", Modes::Both, false},
    {"close_on_reuse", "fault=close_on_reuse"},
    {"no_done", "fault=no_done", Modes::Streamed},
    {"double_done", "fault=double_done", Modes::Streamed},
    {"after_done", "fault=after_done", Modes::Streamed},
    {"usage_repeated", "fault=usage_repeated"},
    {"usage_missing", "fault=usage_missing"},
    {"usage_negative", "fault=usage_negative"},
    {"usage_absurd", "fault=usage_absurd"},
    {"no_last_chunk", "fault=no_last_chunk", Modes::Streamed, false},
    {"cr_only", "fault=cr_only", Modes::Streamed},
    {"crlf", "fault=crlf", Modes::Streamed},
    {"bom", "fault=bom", Modes::Streamed},
    {"comments", "fault=comments", Modes::Streamed},
    {"blank_lines", "fault=blank_lines"},
    {"leading_space", "fault=leading_space", Modes::Streamed},
    {"no_space", "fault=no_space", Modes::Streamed},
    {"gzip", "fault=gzip"},
    {"deflate", "fault=deflate"},
    {"br", "fault=br"},
    {"zstd", "fault=zstd"},
    {"gzip_split", "fault=gzip; split=1"},
    {"zstd_split", "fault=zstd; split=7"},
    {"split_1", "split=1"},
    {"split_3_crlf", "split=3; fault=crlf", Modes::Streamed},
    {"split_1_cr", "split=1; fault=cr_only", Modes::Streamed},
    {"chunk_1", "chunk=1"},
    {"chunk_7", "chunk=7"},
    {"chunk_2_cr", "chunk=2; fault=cr_only", Modes::Streamed},
    {"drip", "rate=400"},
    {"wrong_type", "fault=wrong_type", Modes::Plain},
};
// clang-format on

struct Param {
  Case odd;
  Mode mode;
};

class Oddity : public ::testing::TestWithParam<Param> {};

TEST_P(Oddity, ReadsTheSame) {
  const auto& [odd, mode] = GetParam();
  World plain;
  const std::string text = text_in(plain.ask(mode.ask("alone")).reply);
  ASSERT_GT(text.size(), 20U);
  for (const std::string_view route : {"alone", "sim-gpt"}) {
    World world;
    world.provider(0).misbehave(odd.directives);
    for (int i = 0; i < 3; ++i) {
      const Exchange heard = world.ask(mode.ask(route));
      EXPECT_EQ(heard.reply.status, 200) << heard.raw;
      EXPECT_TRUE(heard.reply.complete);
      EXPECT_EQ(heard.framing_error, "");
      EXPECT_EQ(text_in(heard.reply), text) << heard.reply.body;
      EXPECT_EQ(heard.story(), "success");
      EXPECT_FALSE(heard.record->interrupted);
      EXPECT_EQ(heard.reply.header("content-type").value_or("").substr(0, mode.stream ? 17 : 16),
                mode.stream ? "text/event-stream" : "application/json");
      EXPECT_FALSE(heard.reply.header("content-encoding"));
      if (mode.stream && !mode.responses) {
        const std::size_t done = heard.reply.body.find("[DONE]");
        EXPECT_EQ(done != std::string::npos, odd.name != "no_done");
        EXPECT_EQ(heard.reply.body.find("[DONE]", done + 1), std::string::npos) << "one end is enough";
        if (done != std::string::npos) EXPECT_EQ(heard.reply.body.find("data:", done), std::string::npos);
      }
    }
    EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
    if (!odd.reusable) EXPECT_EQ(world.counters().upstream_reuses.get(), 0);
    world.expect_rest();
  }
}

std::vector<Param> params() {
  std::vector<Param> out;
  for (const Case& odd : kCases) {
    for (const Mode mode : modes_of(odd.modes)) out.push_back({odd, mode});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Table, Oddity, ::testing::ValuesIn(params()),
                         [](const auto& info) { return info.param.odd.name + "_" + info.param.mode.name(); });

// Clients read by the book: a field whose name begins with a space is none that they know.
TEST(OddSpelling, IndentedFieldsReachTheClientAsFields) {
  for (const Mode mode : modes_of(Modes::Streamed)) {
    for (const std::string_view directives : {"fault=leading_space", "fault=leading_space; split=5"}) {
      World plain;
      const std::string whole = plain.ask(mode.ask("sim-gpt")).reply.body;
      World world;
      world.provider(0).misbehave(directives);
      EXPECT_EQ(world.ask(mode.ask("sim-gpt")).reply.body, whole) << mode.name();
      world.expect_rest();
    }
  }
}

class Spelling : public ::testing::TestWithParam<std::string> {};

// The bytes reach the client as the provider wrote them: nothing is decoded and written anew.
TEST_P(Spelling, PassesUntouched) {
  for (const Mode mode : modes_of(Modes::Both)) {
    Ask ask = mode.ask("sim-gpt");
    // The usage chunk is asked for, so that none of the stream is ours to take away.
    if (mode.stream && !mode.responses)
      ask.body.insert(ask.body.size() - 1, ",\"stream_options\":{\"include_usage\":true}");
    // What the gateway keeps says so in its own words.
    if (mode.responses) ask.body.insert(ask.body.size() - 1, ",\"store\":false");
    World world;
    world.provider(0).misbehave(GetParam());
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.story(), "success") << mode.name();
    Client direct(world.loop(), world.provider(0).address());
    direct.on_end([&] { world.loop().stop(); });
    direct.start(ask.bytes());
    world.loop().run();
    EXPECT_EQ(heard.reply.body, direct.reply().body) << mode.name();
    world.expect_rest();
  }
}
INSTANTIATE_TEST_SUITE_P(Table, Spelling,
                         ::testing::Values("fault=lone_surrogate", "fault=nul", "fault=invalid_utf8",
                                           "words=3000", "fault=empty_reasoning_only", "reasoning=on",
                                           "refusal=on", "fault=cr_only", "fault=crlf", "fault=bom",
                                           "fault=no_space"),
                         [](const auto& info) { return fmt::format("n{}", info.index); });

TEST(OddSizes, AMillionTinyEventsAndOneLargeOne) {
  for (const std::string directives : {"fault=tiny_events; count=100000", "fault=big_event; size=8388608"}) {
    World world;
    world.provider(0).misbehave(directives);
    const Exchange heard = world.ask(chat("alone").streamed());
    EXPECT_EQ(heard.reply.status, 200);
    EXPECT_EQ(heard.story(), "success") << directives;
    EXPECT_GT(text_in(heard.reply).size(), 90'000U) << directives;
    EXPECT_TRUE(heard.reply.body.ends_with("data: [DONE]\n\n"));
    world.expect_rest();
  }
}

TEST(OddSizes, AnEventBeyondTheLimitFails) {
  World world;
  world.provider(0).misbehave("fault=big_event; size=17825792");
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_TRUE(heard.story().starts_with("event_too_big")) << heard.story();
  EXPECT_EQ(heard.reply.body.find("[DONE]") != std::string::npos, heard.story() == "event_too_big,success");
  world.expect_rest();
}

TEST(OddUsage, AbsurdFiguresAreNotBelieved) {
  for (const Mode mode : modes_of(Modes::Both)) {
    World world;
    world.provider(0).misbehave("fault=usage_negative");
    const Exchange heard = world.ask(mode.ask("alone"));
    ASSERT_TRUE(heard.record);
    EXPECT_GE(heard.record->usage.input_total(), 0) << mode.name();
    EXPECT_GE(heard.record->usage.output_total(), 0) << mode.name();
    world.expect_rest();
  }
}

Task<void> say_much_behind_the_end(fakes::ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await fakes::ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  std::string body =
      R"(data: {"id":"1","object":"chat.completion.chunk","model":"sim-gpt","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]})"
      "\n\ndata: [DONE]\n\n";
  const std::string behind(1U << 20U, '\n');
  const std::string head =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  body =
      fmt::format("{}{:x}\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n", head, body.size(), body, behind.size(), behind);
  const bool taken = co_await fakes::ScriptedUpstream::write(stream, std::move(body));
  if (taken) co_await fakes::ScriptedUpstream::pause(server, 1s);
}

// What is thrown away costs work: a connection is not worth any amount of it.
TEST(BehindTheEnd, NotAllOfItIsReadForTheSakeOfTheConnection) {
  WorldSetup setup;
  setup.base_host = "127.0.0.2";
  World world(std::move(setup));
  fakes::ScriptedUpstream server(world.loop(), net::Address::parse("127.0.0.2:9001").value(),
                                 &say_much_behind_the_end);
  Client& client = world.client();
  client.start(chat("sim-gpt").streamed().bytes(), 1, true);
  world.run_for(100ms);
  EXPECT_TRUE(client.reply().body.ends_with("data: [DONE]\n\n"));
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), "success");
  EXPECT_EQ(world.counters().upstream_connections_open.get(), 0);
  EXPECT_LT(world.counters().bytes_from_upstreams.get(), 400'000);
  client.leave(Client::Leave::Reset);
  world.run_for(2s);
  EXPECT_TRUE(server.idle());
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::oddities
