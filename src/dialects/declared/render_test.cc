#include "dialects/declared/render.h"

#include <gtest/gtest.h>

namespace qq::dialects::declared {
namespace {

using model::JsonTemplate;
using model::Placeholder;

JsonTemplate literal(std::string json) {
  JsonTemplate made;
  made.json = std::move(json);
  return made;
}
JsonTemplate hole(Placeholder placeholder, std::string fallback = {}, bool takes_along = false) {
  JsonTemplate made;
  made.kind = JsonTemplate::Kind::Placeholder;
  made.placeholder = placeholder;
  made.json = std::move(fallback);
  made.takes_along = takes_along;
  return made;
}
JsonTemplate object(std::vector<std::string> keys, std::vector<JsonTemplate> inside) {
  JsonTemplate made;
  made.kind = JsonTemplate::Kind::Object;
  made.keys = std::move(keys);
  made.inside = std::move(inside);
  return made;
}
JsonTemplate array(std::vector<JsonTemplate> inside) {
  JsonTemplate made;
  made.kind = JsonTemplate::Kind::Array;
  made.inside = std::move(inside);
  return made;
}
std::string rendered(const JsonTemplate& json, const Values& values) {
  std::string out = ">";
  return render(json, values, out) ? out : out + " nothing";
}

TEST(DeclaredRender, ValuesStandWhereTheirPlaceholdersStood) {
  Values values;
  values.set_text(Placeholder::Model, "a \"b\"");
  values.set_number(Placeholder::Temperature, 0.5);
  values.set_integer(Placeholder::Seed, -3);
  values.set_boolean(Placeholder::Stream, false);
  values.set_json(Placeholder::Stop, R"(["x"])");
  const JsonTemplate json =
      object({"m", "t", "rest", "k\"ey"},
             {hole(Placeholder::Model), hole(Placeholder::Temperature),
              array({hole(Placeholder::Seed), literal("null"), hole(Placeholder::Stream)}),
              hole(Placeholder::Stop)});
  EXPECT_EQ(rendered(json, values), R"(>{"m":"a \"b\"","t":0.5,"rest":[-3,null,false],"k\"ey":["x"]})");
}

TEST(DeclaredRender, WhatIsAbsentIsLeftOutAndSoIsWhatItLeavesEmpty) {
  const Values nothing;
  EXPECT_EQ(rendered(object({"a", "b"}, {hole(Placeholder::Model), literal("1")}), nothing), R"(>{"b":1})");
  EXPECT_EQ(rendered(object({"a", "b"}, {literal("1"), object({"x"}, {hole(Placeholder::Model)})}), nothing),
            R"(>{"a":1})");
  EXPECT_EQ(rendered(array({hole(Placeholder::Model), literal("1"), hole(Placeholder::Seed)}), nothing),
            ">[1]");
  EXPECT_EQ(rendered(object({"a"}, {hole(Placeholder::Model)}), nothing), "> nothing");
  EXPECT_EQ(rendered(object({"a"}, {object({}, {})}), nothing), R"(>{"a":{}})")
      << "what is written empty stays";
}

TEST(DeclaredRender, AFallbackStandsInForWhatIsAbsent) {
  Values values;
  EXPECT_EQ(rendered(object({"a"}, {hole(Placeholder::MaxOutputTokens, "1024")}), values), R"(>{"a":1024})");
  values.set_integer(Placeholder::MaxOutputTokens, 7);
  EXPECT_EQ(rendered(object({"a"}, {hole(Placeholder::MaxOutputTokens, "1024")}), values), R"(>{"a":7})");
}

TEST(DeclaredRender, AnExclamationMarkTakesTheObjectAroundAlong) {
  Values values;
  const JsonTemplate shape =
      object({"kind", "schema"}, {literal("\"schema\""), hole(Placeholder::JsonSchema, {}, true)});
  const JsonTemplate json = object({"a", "shape"}, {literal("1"), shape});
  EXPECT_EQ(rendered(json, values), R"(>{"a":1})");
  // From inside an array it is the object around that.
  EXPECT_EQ(
      rendered(
          object({"a", "shapes"},
                 {literal("1"),
                  object({"k", "list"}, {literal("2"), array({hole(Placeholder::JsonSchema, {}, true)})})}),
          values),
      R"(>{"a":1})");
  values.set_json(Placeholder::JsonSchema, "{}");
  EXPECT_EQ(rendered(json, values), R"(>{"a":1,"shape":{"kind":"schema","schema":{}}})");
}

TEST(DeclaredRender, TextsHoldTextsOfValues) {
  model::TextTemplate text;
  text.pieces = {{"to ", Placeholder::Model}, {" as ", Placeholder::Seed}, {"!", std::nullopt}};
  Values values;
  values.set_text(Placeholder::Model, "m\n");
  EXPECT_EQ(render(text, values), std::nullopt) << "one of its values is absent";
  values.set_integer(Placeholder::Seed, 4);
  EXPECT_EQ(render(text, values), "to m\n as 4!");
}

}  // namespace
}  // namespace qq::dialects::declared
