#include "dialects/calls_in_turn.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace qq::dialects {
namespace calls_in_turn_test {

using model::PartKind;
using model::StreamEvent;
using Kind = StreamEvent::Kind;

// What comes out, a word an event.
class Told final : public EventSink {
 public:
  void on_event(const StreamEvent& event) override {
    switch (event.kind) {
      case Kind::PartStarted: text += fmt::format("{}({} ", event.part, event.name); break;
      case Kind::ArgumentsDelta: text += fmt::format("{}{} ", event.part, event.text); break;
      case Kind::StateDelta: text += fmt::format("{}state:{} ", event.part, event.state->data); break;
      case Kind::PartFinished: text += fmt::format("{}) ", event.part); break;
      default: text += "? "; break;
    }
  }
  std::string text;
};

StreamEvent call(std::uint32_t part, std::string_view name) {
  return {.kind = Kind::PartStarted, .part_kind = PartKind::ToolCall, .part = part, .id = "i", .name = name};
}
StreamEvent arguments(std::uint32_t part, std::string_view text) {
  return {.kind = Kind::ArgumentsDelta, .part_kind = PartKind::ToolCall, .part = part, .text = text};
}
StreamEvent done(std::uint32_t part) {
  return {.kind = Kind::PartFinished, .part_kind = PartKind::ToolCall, .part = part};
}
std::string told(const std::vector<StreamEvent>& events) {
  Told out;
  CallsInTurn turns;
  for (const StreamEvent& event : events) EXPECT_TRUE(turns.take(event, out));
  return out.text;
}

TEST(CallsInTurn, WhatDoesNotOverlapGoesOnAtOnce) {
  Told out;
  CallsInTurn turns;
  for (const auto& [event, expected] : std::vector<std::pair<StreamEvent, std::string>>{
           {call(0, "f"), "0(f "},
           {arguments(0, "a"), "0(f 0a "},
           {done(0), "0(f 0a 0) "},
           {call(1, "g"), "0(f 0a 0) 1(g "},
           {{.kind = Kind::Ping}, "0(f 0a 0) 1(g ? "},
       }) {
    ASSERT_TRUE(turns.take(event, out));
    EXPECT_EQ(out.text, expected);
  }
}

TEST(CallsInTurn, ACallWaitsForTheOneBeforeIt) {
  EXPECT_EQ(told({call(0, "f"), arguments(0, "a"), call(1, "g"), arguments(1, "x"), arguments(0, "b"),
                  arguments(1, "y"), done(0), arguments(1, "z"), done(1)}),
            "0(f 0a 0b 0) 1(g 1xy 1z 1) ");
}

TEST(CallsInTurn, CallsThatEndWhileTheyWaitKeepTheirOrder) {
  const model::OpaqueState state{model::Dialect::Gemini, "s"};
  const StreamEvent signature{
      .kind = Kind::StateDelta, .part_kind = PartKind::ToolCall, .part = 2, .state = &state};
  EXPECT_EQ(told({call(0, "f"), call(1, "g"), call(2, "h"), arguments(2, "{}"), signature, done(2), done(1),
                  arguments(0, "a"), done(0), call(3, "i"), done(3)}),
            "0(f 0a 0) 1(g 1) 2(h 2state:s 2{} 2) 3(i 3) ");
}

TEST(CallsInTurn, OnlySoMuchWaits) {
  Told out;
  CallsInTurn turns;
  ASSERT_TRUE(turns.take(call(0, "f"), out));
  ASSERT_TRUE(turns.take(call(1, "g"), out));
  const std::string half(CallsInTurn::kHeldMax / 2, 'x');
  EXPECT_TRUE(turns.take(arguments(0, half), out));
  EXPECT_TRUE(turns.take(arguments(0, half), out)) << "what goes on at once is no matter";
  EXPECT_TRUE(turns.take(arguments(1, half), out));
  EXPECT_FALSE(turns.take(arguments(1, half), out));
}

TEST(CallsInTurn, WhatWasToldWaitsNoMore) {
  Told out;
  CallsInTurn turns;
  const std::string most(CallsInTurn::kHeldMax / 2, 'x');
  for (std::uint32_t part = 0; part < 8; part += 2) {
    ASSERT_TRUE(turns.take(call(part, "f"), out));
    ASSERT_TRUE(turns.take(call(part + 1, "g"), out));
    ASSERT_TRUE(turns.take(arguments(part + 1, most), out)) << part;
    ASSERT_TRUE(turns.take(done(part), out));
    ASSERT_TRUE(turns.take(done(part + 1), out));
  }
}

}  // namespace calls_in_turn_test
}  // namespace qq::dialects
