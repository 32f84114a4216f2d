#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

#include "base/hex.h"
#include "base/percent.h"
#include "base/utf8_cut.h"

namespace qq {
namespace {

TEST(AppendAll, LeavesExactlyWhatWasAppended) {
  std::string out = "a";
  std::string wanted = out;
  for (int i = 0; i < 200; ++i) {  // over all the places where the room grows
    append_all(out, "b", std::string_view(), std::string(static_cast<std::size_t>(i % 7), 'c'), Decimal(i));
    wanted += "b" + std::string(static_cast<std::size_t>(i % 7), 'c') + std::to_string(i);
    ASSERT_EQ(out, wanted);
    ASSERT_EQ(out.c_str()[out.size()], '\0');
  }
}

TEST(Hex, ReadsDigitsOfEitherCaseAndNothingElse) {
  int digits = 0;
  for (int c = 0; c < 256; ++c) {
    const int value = hex_digit(static_cast<unsigned char>(c));
    if (value < 0) continue;
    ++digits;
    EXPECT_EQ(value, std::stoi(std::string(1, static_cast<char>(c)), nullptr, 16));
  }
  EXPECT_EQ(digits, 22);
}

TEST(Hex, WritesTwoDigitsForEachByte) {
  EXPECT_EQ(to_hex(std::string_view("\x00\x7f\xff", 3)), "007fff");
  EXPECT_EQ(to_hex(std::array<std::byte, 2>{std::byte{0x0a}, std::byte{0xb0}}), "0ab0");
}

TEST(Percent, IsDecodedOrIsNoSuchText) {
  EXPECT_EQ(percent_decoded("a%2Fb%2fc%00"), std::string("a/b/c\0", 6));
  EXPECT_EQ(percent_decoded("+"), "+");
  EXPECT_EQ(percent_decoded(""), "");
  for (const std::string_view text : {"%", "%2", "a%2", "%zz", "%2g", "%-1"})
    EXPECT_FALSE(percent_decoded(text)) << text;
}

TEST(CutUtf8, SplitsNoCharacter) {
  EXPECT_EQ(cut_utf8("river", 5), "river");
  EXPECT_EQ(cut_utf8("river", 2), "ri");
  EXPECT_EQ(cut_utf8("", 0), "");
  const std::string_view text = "a\xc3\xa9\xe6\xb2\xb3\xf0\x9f\x8c\x89";  // 1, 2, 3 and 4 bytes
  constexpr std::array<std::size_t, 11> kKept{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (std::size_t most = 0; most < kKept.size(); ++most)
    EXPECT_EQ(cut_utf8(text, most).size(), kKept[most]) << most;
  EXPECT_EQ(cut_utf8(std::string(9, '\x80'), 8).size(), 5U) << "no UTF-8";
}

}  // namespace
}  // namespace qq
