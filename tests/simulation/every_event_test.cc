// A fault at every event and at every byte of a stream. Whatever the position, the client has one of three
// things: the whole first answer, the whole second one, or a prefix of whole events with one error event.
#include <fmt/format.h>

#include "simulation/fault_case.h"
#include "wire/sse.h"

namespace qq::simulation {
namespace {

struct Expected {
  std::string first;                 // p0's whole stream
  std::string second;                // p1's
  std::vector<std::size_t> borders;  // ends of events in `first`
};

Expected expected_of(const Mode& mode) {
  Expected expected;
  World world;
  world.provider(0).misbehave("words=6");
  world.provider(1).misbehave("words=4");
  expected.first = replaced_all(world.ask(mode.ask("alone")).reply.body, "\"alone\"", "\"backed\"");
  expected.second = replaced_all(world.ask(mode.ask("spare")).reply.body, "\"spare\"", "\"backed\"");
  EXPECT_NE(expected.first, expected.second);
  expected.borders.push_back(0);
  wire::SseDecoder decoder;
  wire::SseEvent event;
  for (std::size_t at = 0; decoder.next(expected.first, at, event);) expected.borders.push_back(event.end);
  EXPECT_EQ(expected.borders.back(), expected.first.size());
  return expected;
}

bool has_end(std::string_view stream, const Mode& mode) {
  return stream.find(mode.responses ? "event: response.completed" : "\"finish_reason\":\"stop\"") !=
         std::string_view::npos;
}

// Checks one outcome; `where` says which fault it was.
void expect_one_of_three(const Exchange& heard, const Expected& expected, const Mode& mode,
                         const std::string& where) {
  SCOPED_TRACE(where);
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_EQ(heard.framing_error, "");
  ASSERT_TRUE(heard.record);
  const std::string body = replaced_all(heard.reply.body, ": keep-alive\n\n", "");
  const std::string story = heard.story();
  if (story == "success") {
    EXPECT_TRUE(expected.first.starts_with(body)) << body;
    EXPECT_TRUE(has_end(body, mode)) << body;
    EXPECT_FALSE(heard.record->interrupted);
  } else if (story.ends_with(",success")) {
    EXPECT_EQ(body, expected.second);
    EXPECT_FALSE(heard.record->interrupted);
  } else {
    EXPECT_EQ(heard.attempts().size(), 1U) << story;
    EXPECT_TRUE(heard.record->interrupted);
    const std::size_t error_at = body.rfind(mode.responses ? "event: error\n" : "data: {\"error\":");
    ASSERT_NE(error_at, std::string::npos) << body;
    EXPECT_TRUE(expected.first.starts_with(std::string_view(body).substr(0, error_at))) << body;
    EXPECT_TRUE(std::ranges::find(expected.borders, error_at) != expected.borders.end())
        << "half an event: " << body;
    const std::string event = told_error(mode, body, error_at);
    EXPECT_EQ(event.find("\n\n"), event.size() - 2);
    EXPECT_EQ(body.find("[DONE]"), std::string::npos) << "a false end";
    EXPECT_FALSE(text_in(heard.reply).empty()) << "without content another target should have answered";
  }
}

class EveryEvent : public ::testing::TestWithParam<std::tuple<std::string, Mode>> {};

TEST_P(EveryEvent, LeavesOneOfThree) {
  const auto& [fault, mode] = GetParam();
  const Expected expected = expected_of(mode);
  int fell_back = 0;
  int interrupted = 0;
  for (std::size_t at = 0; at < expected.borders.size(); ++at) {
    for (const std::string pace : {"", "gap=20; "}) {
      World world;
      world.provider(0).misbehave(fmt::format("words=6; {}fault={}; at={}", pace, fault, at));
      world.provider(1).misbehave("words=4");
      const Exchange heard = world.ask(mode.ask("backed"));
      expect_one_of_three(heard, expected, mode, fmt::format("{} before event {} {}", fault, at, pace));
      fell_back += heard.attempts().size() == 2 ? 1 : 0;
      interrupted += heard.record && heard.record->interrupted ? 1 : 0;
      world.expect_rest();
    }
  }
  EXPECT_GE(fell_back, 2);
  EXPECT_GE(interrupted, 4);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryEvent,
                         ::testing::Combine(::testing::Values("close_mid_body", "reset_mid_body",
                                                              "stall_mid_body", "error_middle", "bad_chunk"),
                                            ::testing::ValuesIn(modes_of(Modes::Streamed))),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param).name();
                         });

class EveryByte : public ::testing::TestWithParam<std::tuple<std::string, Mode>> {};

TEST_P(EveryByte, LeavesOneOfThree) {
  const auto& [fault, mode] = GetParam();
  const Expected expected = expected_of(mode);
  World world;
  world.provider(1).misbehave("words=4");
  // The provider's stream has another model name and a usage chunk more: about as long.
  for (std::size_t at = 0; at < expected.first.size() + 300; at += mode.responses ? 7 : 1) {
    world.provider(0).misbehave(fmt::format("words=6; fault={}; at_byte={}", fault, at));
    const Exchange heard = world.ask(mode.ask("backed"));
    expect_one_of_three(heard, expected, mode, fmt::format("{} at byte {}", fault, at));
    if (HasFailure()) break;
    world.run_for(121s);  // an opened breaker lets a probe pass again
  }
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(
    Table, EveryByte,
    ::testing::Combine(::testing::Values("close_mid_body", "reset_mid_body", "close_mid_body; fault=http10"),
                       ::testing::ValuesIn(modes_of(Modes::Streamed))),
    [](const auto& info) { return fmt::format("f{}_{}", info.index / 2, std::get<1>(info.param).name()); });

}  // namespace
}  // namespace qq::simulation
