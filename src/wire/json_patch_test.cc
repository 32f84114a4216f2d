#include "wire/json_patch.h"

namespace qq::wire {
namespace {

std::string apply_checked(const JsonPatch& patch) {
  std::string text = patch.apply();
  EXPECT_EQ(check_json(text), std::nullopt) << text;
  std::string joined;
  for (const std::string_view piece : patch.pieces()) {
    EXPECT_FALSE(piece.empty());
    joined += piece;
  }
  EXPECT_EQ(joined, text);
  return text;
}

// Removes the named members of a document's outermost object and adds those given.
std::string edit(std::string_view text, const std::vector<std::string_view>& removed,
                 const std::vector<std::string_view>& added = {}) {
  JsonPatch patch(text);
  const JsonValue object(text);
  for (const std::string_view key : removed) patch.remove_member(object, *object.member(key));
  for (const std::string_view key : added) patch.add_member(object, key, "0");
  return apply_checked(patch);
}

TEST(JsonPatch, WithoutEditsGivesTheOriginal) {
  const JsonPatch patch(" {\"a\" : 1} ");
  EXPECT_TRUE(patch.empty());
  EXPECT_EQ(apply_checked(patch), " {\"a\" : 1} ");
}

TEST(JsonPatch, ReplacesAValueAndNothingElse) {
  const std::string_view text = "\n{ \"model\" :\t\"gpt\" , \"x\":1e400,\"y\": \"\\ud800\" }\r\n";
  JsonPatch patch(text);
  patch.replace(*JsonValue(text).member("model"), "\"other\"");
  EXPECT_FALSE(patch.empty());
  EXPECT_EQ(apply_checked(patch), "\n{ \"model\" :\t\"other\" , \"x\":1e400,\"y\": \"\\ud800\" }\r\n");
}

TEST(JsonPatch, ReplacesSeveralValuesInAnyOrder) {
  const std::string_view text = R"({"a":1,"b":{"c":2},"d":[3]})";
  const JsonValue object(text);
  JsonPatch patch(text);
  JsonElements elements(*object.member("d"));
  ASSERT_TRUE(elements.next());
  patch.replace(elements.value(), "33");
  patch.replace(*object.at("b", "c"), "22");
  patch.replace(*object.member("a"), "11");
  EXPECT_EQ(apply_checked(patch), R"({"a":11,"b":{"c":22},"d":[33]})");
}

TEST(JsonPatch, ReplacesTheWholeDocument) {
  const std::string_view text = " [1] ";
  JsonPatch patch(text);
  patch.replace(JsonValue(text), "{}");
  EXPECT_EQ(apply_checked(patch), " {} ");
}

TEST(JsonPatch, AddsMembersInFrontInTheOrderOfTheCalls) {
  EXPECT_EQ(edit(R"({"a":1})", {}, {"x"}), R"({"x":0,"a":1})");
  EXPECT_EQ(edit(R"({"a":1})", {}, {"x", "y"}), R"({"x":0,"y":0,"a":1})");
  EXPECT_EQ(edit("{ \"a\":1}", {}, {"x"}), "{\"x\":0, \"a\":1}");
}

TEST(JsonPatch, AddsMembersToAnEmptyObjectWithoutAComma) {
  EXPECT_EQ(edit("{}", {}, {"x"}), R"({"x":0})");
  EXPECT_EQ(edit("{}", {}, {"x", "y"}), R"({"x":0,"y":0})");
  EXPECT_EQ(edit("{ }", {}, {"x"}), R"({"x":0 })");
}

TEST(JsonPatch, EscapesTheKeyItAdds) {
  EXPECT_EQ(edit("{}", {}, {"a\"\n"}), R"({"a\"\n":0})");
}

TEST(JsonPatch, AddsToANestedObject) {
  const std::string_view text = R"({"a":{"b":{}},"c":1})";
  const JsonValue object(text);
  JsonPatch patch(text);
  patch.add_member(*object.at("a", "b"), "x", "true");
  patch.add_member(*object.member("a"), "y", "[]");
  EXPECT_EQ(apply_checked(patch), R"({"a":{"y":[],"b":{"x":true}},"c":1})");
}

TEST(JsonPatch, RemovesAMemberWithOneComma) {
  EXPECT_EQ(edit(R"({"a":1,"b":2,"c":3})", {"a"}), R"({"b":2,"c":3})");
  EXPECT_EQ(edit(R"({"a":1,"b":2,"c":3})", {"b"}), R"({"a":1,"c":3})");
  EXPECT_EQ(edit(R"({"a":1,"b":2,"c":3})", {"c"}), R"({"a":1,"b":2})");
  EXPECT_EQ(edit(R"({"a":1})", {"a"}), "{}");
}

TEST(JsonPatch, RemovesEverySubsetOfMembers) {
  const std::string_view text = "{ \"a\" : [1,{}] , \"b\":\"x,\\\"}\"\n,\"c\" :null,\t\"d\": {\"a\":0} }";
  const std::array<std::string_view, 4> keys{"a", "b", "c", "d"};
  for (unsigned subset = 0; subset < 16; ++subset) {
    std::vector<std::string_view> removed;
    for (unsigned i = 0; i < 4; ++i) {
      if ((subset >> i & 1) != 0) removed.push_back(keys[i]);
    }
    for (const std::vector<std::string_view>& added : {std::vector<std::string_view>{}, {"x"}, {"x", "y"}}) {
      const std::string result = edit(text, removed, added);
      const JsonValue object(result);
      for (unsigned i = 0; i < 4; ++i) {
        const auto before = JsonValue(text).member(keys[i]);
        const auto after = object.member(keys[i]);
        EXPECT_EQ(after.has_value(), (subset >> i & 1) == 0) << result;
        if (after) {
          EXPECT_EQ(after->text(), before->text());
        }
      }
      for (const std::string_view key : added) EXPECT_TRUE(object.member(key)) << result;
    }
  }
}

TEST(JsonPatch, RemovesOnlyTheNamedOneOfDuplicateKeys) {
  EXPECT_EQ(edit(R"({"a":1,"a":2})", {"a"}), R"({"a":2})");
}

TEST(JsonPatch, RemovesAndReplacesNeighbours) {
  const std::string_view text = R"({"a":1,"b":2,"c":3})";
  const JsonValue object(text);
  JsonPatch patch(text);
  patch.replace(*object.member("a"), "\"A\"");
  patch.remove_member(object, *object.member("b"));
  patch.replace(*object.member("c"), "\"C\"");
  EXPECT_EQ(apply_checked(patch), R"({"a":"A","c":"C"})");
}

TEST(JsonPatch, DropsEditsInsideWhatIsRemovedOrReplaced) {
  const std::string_view text = R"({"a":{"b":1},"c":{"d":2},"e":3})";
  const JsonValue object(text);
  JsonPatch patch(text);
  patch.replace(*object.at("a", "b"), "9");
  patch.remove_member(object, *object.member("a"));
  patch.add_member(*object.member("c"), "x", "1");
  patch.replace(*object.member("c"), "null");
  EXPECT_EQ(apply_checked(patch), R"({"c":null,"e":3})");
}

TEST(JsonPatch, CutsBytesBesideOtherEdits) {
  constexpr std::string_view kDocument = R"({"a":[1, 2,3],"b":4})";
  JsonPatch patch(kDocument);
  patch.cut(kDocument.substr(kDocument.find("1, "), 3));
  patch.replace(*JsonValue(kDocument).member("b"), "5");
  EXPECT_EQ(apply_checked(patch), R"({"a":[2,3],"b":5})");
}

TEST(WithOtherString, KeepsTheQuotesOfThePlaceOfAPlainText) {
  constexpr std::string_view kDocument = R"({"a":"b\"c","d":1})";
  const std::string_view name = "gpt-4.1/mini";
  std::string own;
  const auto pieces = with_other_string(kDocument, *JsonValue(kDocument).member("a"), name, own);
  EXPECT_THAT(pieces, testing::ElementsAre(R"({"a":")", name, R"(","d":1})"));
  EXPECT_EQ(pieces[1].data(), name.data()) << "nothing is copied";
}

TEST(WithOtherString, EscapesWhatNeedsIt) {
  constexpr std::string_view kDocument = R"({"a":"","d":1})";
  for (const std::string_view text : {"a\"b", "a\\b", "a\nb", "\xc3\xa9", "\xff"}) {
    std::string own;
    const auto pieces = with_other_string(kDocument, *JsonValue(kDocument).member("a"), text, own);
    std::string expected;
    append_json_string(expected, text);
    EXPECT_THAT(pieces, testing::ElementsAre(R"({"a":)", expected, R"(,"d":1})"));
  }
}

}  // namespace
}  // namespace qq::wire
