#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace qq::config {
namespace {

std::optional<Node> parsed(std::string_view text, std::vector<Diagnostic>* mistakes = nullptr) {
  Diagnostics out("f");
  auto node = parse_yaml(text, out);
  EXPECT_EQ(node.has_value(), out.empty());
  if (mistakes != nullptr) *mistakes = out.take();
  return node;
}

std::string refusal(std::string_view text) {
  std::vector<Diagnostic> mistakes;
  EXPECT_FALSE(parsed(text, &mistakes).has_value());
  return mistakes.empty() ? "" : mistakes.front().message;
}

TEST(YamlTree, KeepsDuplicateKeysInOrder) {
  const auto root = parsed("a: 1\nb: 2\na: 3\n");
  ASSERT_EQ(root->entries.size(), 3U);
  EXPECT_EQ(root->entries[0].value.text, "1");
  EXPECT_EQ(root->entries[2].key.text, "a");
  EXPECT_EQ(root->entries[2].value.text, "3");
}

TEST(YamlTree, TellsPlainScalarsFromQuotedOnes) {
  const auto root = parsed("[a, 'b', \"c\"]");
  EXPECT_TRUE(root->items[0].plain);
  EXPECT_FALSE(root->items[1].plain);
  EXPECT_FALSE(root->items[2].plain);
  EXPECT_FALSE(parsed("a: |\n  text\n")->entries[0].value.plain);
}

TEST(YamlTree, KeepsScalarsAsTheyWereWritten) {
  const auto root = parsed("[010, 0x10, 1_000, yes, 1e3]");
  EXPECT_EQ(root->items[0].text, "010");
  EXPECT_EQ(root->items[1].text, "0x10");
  EXPECT_EQ(root->items[2].text, "1_000");
  EXPECT_EQ(root->items[3].text, "yes");
  EXPECT_EQ(root->items[4].text, "1e3");
}

TEST(YamlTree, TellsHowANullWasWritten) {
  const auto root = parsed("a: ~\nb: null\nc:\nd: NULL\n");
  EXPECT_EQ(root->entries[0].value.kind, Node::Kind::Null);
  EXPECT_EQ(root->entries[0].value.text, "~");
  EXPECT_EQ(root->entries[1].value.text, "null");
  EXPECT_EQ(root->entries[2].value.text, "");
  EXPECT_EQ(root->entries[3].value.text, "NULL");
}

TEST(YamlTree, CountsColumnsInCharacters) {
  const auto root = parsed("{备用: 1, b: 2}\n");
  EXPECT_EQ(root->entries[1].key.mark, (Mark{1, 9}));
}

TEST(YamlTree, AByteOrderMarkTakesNoColumn) {
  EXPECT_EQ(parsed("\xEF\xBB\xBF"
                   "a: 1")
                ->entries[0]
                .key.mark,
            (Mark{1, 1}));
}

TEST(YamlTree, WindowsLineEndsCountAsOne) {
  EXPECT_EQ(parsed("a: 1\r\nb: 2\r\n")->entries[1].key.mark, (Mark{2, 1}));
}

TEST(YamlTree, RefusesAnAliasBombWithoutUnfoldingIt) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name <= 'z'; ++name) {
    const char before = static_cast<char>(name - 1);
    bomb += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}]\n", name, before);
  }
  EXPECT_THAT(refusal(bomb), testing::HasSubstr("anchors"));
}

TEST(YamlTree, RefusesMoreNodesThanTheCap) {
  std::string list = "[";
  for (std::size_t i = 0; i <= kMaxNodes; ++i) list += "a,";
  list += "]";
  EXPECT_THAT(refusal(list), testing::HasSubstr("more than 200000 values"));
}

TEST(YamlTree, RefusesMoreBytesThanTheCap) {
  EXPECT_EQ(refusal(std::string(kMaxFileBytes + 1, '#')), "the file is larger than 4 MiB");
  EXPECT_TRUE(parsed(std::string(kMaxFileBytes, '#')).has_value());
}

TEST(YamlTree, RefusesDeepNestingOfEveryForm) {
  std::string block;
  std::string complex;
  for (int i = 0; i < 100'000; ++i) {
    block += "- ";
    complex += "? ";
  }
  for (const std::string& text : {std::string(100'000, '['), std::string(100'000, '{'), block, complex}) {
    EXPECT_NE(refusal(text), "");
  }
}

TEST(YamlTree, CountsColumnsOfALongLineOnceOnly) {
  std::string line = "[";
  for (int i = 0; i < 100'000; ++i) line += "鹊,";
  const auto root = parsed(line + "]");
  EXPECT_EQ(root->items.back().mark, (Mark{1, 200'000}));
}

TEST(YamlTree, RefusesSeveralDocuments) {
  EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), testing::HasSubstr("second document"));
  EXPECT_TRUE(parsed("---\na: 1\n...\n").has_value()) << "markers around the only document are fine";
  EXPECT_TRUE(parsed("%YAML 1.2\n---\na: 1\n").has_value());
}

TEST(YamlTree, RefusesOtherEncodings) {
  EXPECT_NE(refusal(std::string_view("\xFF\xFE"
                                     "a\0:\0",
                                     6)),
            "");
  EXPECT_NE(refusal(std::string_view("\0\0\xFE\xFF", 4)), "");
  for (const auto* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
                          "\xF8\x88\x80\x80\x80", "\x80", "\xE4\xB8", "\xFF"}) {
    EXPECT_EQ(refusal(bad), "not valid UTF-8: save the file as UTF-8");
  }
}

TEST(YamlTree, NeverRepeatsTextOfTheFileInASyntaxError) {
  for (const auto* bad : {"a: \"\\canary\"", "*canary", "a: *canary", "%YAML canary", "a: {canary",
                          "a: \"canary", "- canary: [\n}", "!<canary", "&canary &canary x"}) {
    EXPECT_EQ(refusal(bad).find("canary"), std::string::npos) << bad;
  }
}

}  // namespace
}  // namespace qq::config
