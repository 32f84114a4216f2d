#include "config/scalar.h"

#include <gtest/gtest.h>

namespace qq::config {
namespace {

using namespace std::chrono_literals;

TEST(Scalar, DurationsAreWholeNumbersWithOneUnit) {
  EXPECT_EQ(parse_duration("300ms"), 300ms);
  EXPECT_EQ(parse_duration("3s"), 3s);
  EXPECT_EQ(parse_duration("15m"), 15min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("0s"), 0s);
  for (const auto* bad : {"", "3", "s", "3 s", " 3s", "3s ", "+3s", "-3s", "1.5s", "03s", "3S", "3sec",
                          "1h30m", "3us", "9999999999999999999s", "999999999999999999h", "3\xC2\xB5s"}) {
    EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
  }
}

TEST(Scalar, SizesArePowersOf1024) {
  EXPECT_EQ(parse_size("512B"), 512U);
  EXPECT_EQ(parse_size("64KiB"), 65'536U);
  EXPECT_EQ(parse_size("64MiB"), 67'108'864U);
  EXPECT_EQ(parse_size("4GiB"), 4'294'967'296U);
  EXPECT_EQ(parse_size("0"), 0U);
  for (const auto* bad :
       {"", "1", "1KB", "1kib", "1K", "1.5MiB", "-1B", "01B", "1TiB", "9999999999999999GiB"}) {
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
  }
}

TEST(Scalar, TokenCountsAreDecimal) {
  EXPECT_EQ(parse_tokens("8192"), 8'192);
  EXPECT_EQ(parse_tokens("128k"), 128'000);
  EXPECT_EQ(parse_tokens("1m"), 1'000'000);
  for (const auto* bad : {"", "k", "128K", "1M", "128_000", "128,000", "0128", "1e6", "1.5m", "-1"}) {
    EXPECT_FALSE(parse_tokens(bad).has_value()) << bad;
  }
}

TEST(Scalar, IntegersAreDecimalDigits) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9'223'372'036'854'775'807);
  for (const auto* bad : {"", "-", "+1", "010", "-010", "0x10", "0o7", "0b1", "1_000", "1,000", "1e3", "1.0",
                          ".inf", "9223372036854775808", "1 ", " 1", "1a"}) {
    EXPECT_FALSE(parse_integer(bad).has_value()) << bad;
  }
}

TEST(Scalar, NumbersHaveNoExponentAndNoSpecialValues) {
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("-2.25"), -2.25);
  for (const auto* bad : {"", ".", ".5", "5.", "00.5", "1e3", "1E3", "nan", "inf", ".inf", ".nan", "-.inf",
                          "0x1p3", "1_0.5", "1.2.3", "0.5 "}) {
    EXPECT_FALSE(parse_number(bad).has_value()) << bad;
  }
}

TEST(Scalar, BooleansAreTwoWords) {
  EXPECT_EQ(parse_boolean("true"), true);
  EXPECT_EQ(parse_boolean("false"), false);
  for (const auto* bad : {"", "True", "TRUE", "yes", "no", "on", "off", "1", "0", "t"}) {
    EXPECT_FALSE(parse_boolean(bad).has_value()) << bad;
  }
}

TEST(Scalar, FormattingTakesTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_duration(3'600'000ms), "1h");
  EXPECT_EQ(format_duration(90'000ms), "90s");
  EXPECT_EQ(format_duration(1'500ms), "1500ms");
  EXPECT_EQ(format_duration(0ms), "0ms");
  EXPECT_EQ(format_size(1U << 30U), "1GiB");
  EXPECT_EQ(format_size(1'025), "1025B");
  EXPECT_EQ(format_tokens(128'000), "128k");
  EXPECT_EQ(format_tokens(8'192), "8192");
}

TEST(Scalar, FormattingIsReadBackAsTheSameValue) {
  for (const std::int64_t value :
       {1LL, 7LL, 999LL, 1'000LL, 60'000LL, 61'000LL, 3'600'000LL, 86'400'000LL, 1'048'576LL}) {
    EXPECT_EQ(parse_duration(format_duration(Milliseconds(value))), Milliseconds(value));
    EXPECT_EQ(parse_size(format_size(static_cast<std::uint64_t>(value))), static_cast<std::uint64_t>(value));
    EXPECT_EQ(parse_tokens(format_tokens(value)), value);
  }
}

TEST(Scalar, YamlReadersGuessTheseTypesOfPlainText) {
  for (const auto* text : {"~", "null", "Null", "NULL"}) EXPECT_EQ(silent_type(text), "null") << text;
  for (const auto* text : {"yes", "No", "ON", "off", "true", "False", "y", "N"}) {
    EXPECT_EQ(silent_type(text), "a boolean") << text;
  }
  for (const auto* text : {"1", "-1", "+1", "010", "0x1F", "0o17", "0b11", "1_000", "1.5", ".5", "1e3",
                           "1E+3", "-2.5e-3", ".inf", "-.Inf", ".NaN", "12:30", "190:20:30"}) {
    EXPECT_EQ(silent_type(text), "a number") << text;
  }
}

TEST(Scalar, YamlReadersLeaveTheseAlone) {
  for (const auto* text : {"gpt-4o", "2024-10-21", "v1", "1.2.3", "127.0.0.1:8080", "yess", "nope", "1e",
                           "0x", "0xZZ", "3s", "64MiB", "-", "+", ".", "1e3x", "inf", "nan", "4o"}) {
    EXPECT_EQ(silent_type(text), "") << text;
  }
}

}  // namespace
}  // namespace qq::config
