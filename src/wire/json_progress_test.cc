#include "wire/json_progress.h"

#include <gtest/gtest.h>

#include <string>

namespace qq::wire {
namespace {

enum class End : std::uint8_t { Complete, Open, Broken };

End end_of(std::string_view text, std::size_t piece) {
  JsonProgress progress;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!progress.feed(text.substr(at, piece))) return End::Broken;
  }
  return progress.complete() ? End::Complete : End::Open;
}

void expect(End wanted, std::string_view text) {
  for (const std::size_t piece : {1UL, 2UL, 7UL, 100'000UL}) EXPECT_EQ(end_of(text, piece), wanted) << text;
}

constexpr std::string_view kAnswer =
    R"( {"id":"a\"b\\","n":-1.5e+3,"ok":[true,false,null,{"x":"[{"},[]],"text":"quotes \\\" and } é \u00e9"} )";

TEST(JsonProgress, AWholeDocumentIsComplete) {
  expect(End::Complete, kAnswer);
  expect(End::Complete, "{}");
  expect(End::Complete, "[[[]]]\r\n\t ");
}

TEST(JsonProgress, EveryCutIsSeen) {
  for (std::size_t size = 0; size + 1 < kAnswer.size(); ++size) expect(End::Open, kAnswer.substr(0, size));
}

TEST(JsonProgress, WhatFollowsTheEndIsSeen) {
  for (const std::string_view tail : {"x", "{", "}", "]", "\"", ",", "1", "<html>"}) {
    expect(End::Broken, std::string(kAnswer) + std::string(tail));
  }
}

TEST(JsonProgress, WhatIsNotJsonIsSeen) {
  for (const std::string_view text : {"x", "1", "\"text\"", "}", "{]", "[}", "[(", "{\"a\":<html>",
                                      "[\"a\nb\"]", "[\"a\\\n\"]", "['a']", "[\x80]"}) {
    expect(End::Broken, text);
  }
}

TEST(JsonProgress, DepthHasTheReadersLimit) {
  const std::size_t max = JsonLimits{}.depth_max;
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  expect(End::Complete, nested(max));
  EXPECT_FALSE(check_json(nested(max)).has_value());
  expect(End::Broken, nested(max + 1));
  EXPECT_TRUE(check_json(nested(max + 1)).has_value());
}

}  // namespace
}  // namespace qq::wire
