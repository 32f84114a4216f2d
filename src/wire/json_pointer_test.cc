#include "wire/json_pointer.h"

#include <gtest/gtest.h>

namespace qq::wire {
namespace {

// RFC 6901, 5.
constexpr std::string_view kDocument =
    R"({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8})";

std::string at(std::string_view pointer, std::string_view document = kDocument) {
  const auto tokens = parse_json_pointer(pointer);
  if (!tokens) return "no pointer";
  const auto value = at_pointer(JsonValue(document), *tokens);
  return value ? std::string(value->text()) : "nothing";
}

TEST(JsonPointer, FindsWhatTheStandardsExamplesPointAt) {
  EXPECT_EQ(at("/foo"), R"(["bar", "baz"])");
  EXPECT_EQ(at("/foo/0"), "\"bar\"");
  EXPECT_EQ(at("/"), "0");
  EXPECT_EQ(at("/a~1b"), "1");
  EXPECT_EQ(at("/c%d"), "2");
  EXPECT_EQ(at("/e^f"), "3");
  EXPECT_EQ(at("/g|h"), "4");
  EXPECT_EQ(at("/i\\j"), "5");
  EXPECT_EQ(at("/k\"l"), "6");
  EXPECT_EQ(at("/ "), "7");
  EXPECT_EQ(at("/m~0n"), "8");
}

TEST(JsonPointer, FindsNothingWhereTheWayEnds) {
  EXPECT_EQ(at("/nobody"), "nothing");
  EXPECT_EQ(at("/foo/2"), "nothing");
  EXPECT_EQ(at("/foo/-"), "nothing");
  EXPECT_EQ(at("/foo/00"), "nothing") << "an index has no leading zeros";
  EXPECT_EQ(at("/foo/1x"), "nothing");
  EXPECT_EQ(at("/foo/-1"), "nothing");
  EXPECT_EQ(at("/foo/0/b"), "nothing") << "a text has no members";
  EXPECT_EQ(at("/foo/99999999999999999999"), "nothing");
  EXPECT_FALSE(at_pointer(JsonValue(kDocument), {}));
}

TEST(JsonPointer, WhatIsNoPointerIsRefused) {
  for (const std::string_view text : {"", "foo", "#/foo", "/a~", "/a~2", "/~", "/~x/y"})
    EXPECT_FALSE(parse_json_pointer(text)) << text;
  EXPECT_EQ(parse_json_pointer("/a//b"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(parse_json_pointer("/~01"), std::vector<std::string>{"~1"});
}

}  // namespace
}  // namespace qq::wire
