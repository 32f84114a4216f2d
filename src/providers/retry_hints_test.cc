#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// Sun, 06 Nov 1994 08:49:37 GMT.
constexpr WallTime kExampleDate{seconds(784'111'777)};

std::optional<Milliseconds> wait(std::string_view retry_after_value, std::string_view ms = {},
                                 std::string_view body = {}) {
  wire::Fields fields;
  if (!retry_after_value.empty()) fields.add({"Retry-After", retry_after_value});
  if (!ms.empty()) fields.add({"Retry-After-Ms", ms});
  return retry_after(fields, body, kExampleDate);
}

TEST(RetryAfter, ReadsSecondsFractionsAndDates) {
  EXPECT_EQ(wait("20"), seconds(20));
  EXPECT_EQ(wait(" 0 "), Milliseconds(0));
  EXPECT_EQ(wait("1.5"), Milliseconds(1500));
  EXPECT_EQ(wait("0.0001"), Milliseconds(1)) << "rounded up";
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:50:07 GMT"), seconds(30));
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Milliseconds(0)) << "a time that has passed is now";
}

TEST(RetryAfter, CutsTheAbsurdToADay) {
  EXPECT_EQ(wait("1000000000"), hours(24));
  EXPECT_EQ(wait("99999999999999999999999999999"), hours(24));
  EXPECT_EQ(wait("Sun, 06 Nov 2094 08:50:07 GMT"), hours(24));
  EXPECT_EQ(wait("", "99999999999999999999"), hours(24));
}

TEST(RetryAfter, IgnoresJunk) {
  for (const char* junk : {"-1", "soon", "1e3", "+5", "5 s", "NaN", ".5", "1.2.3", "0x10", "1,5",
                           "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994"}) {
    EXPECT_EQ(wait(junk), std::nullopt) << junk;
  }
  EXPECT_EQ(wait(""), std::nullopt);
  EXPECT_EQ(wait("", "-3"), std::nullopt);
}

TEST(RetryAfter, PrefersMillisecondsUnlessTheySayZeroBesideSeconds) {
  EXPECT_EQ(wait("20", "19500"), Milliseconds(19500));
  EXPECT_EQ(wait("1", "0"), seconds(1)) << "Azure was recorded so";
  EXPECT_EQ(wait("", "0"), Milliseconds(0));
  EXPECT_EQ(wait("7", "junk"), seconds(7));
}

TEST(RetryAfter, ReadsGooglesRetryInfoWhenNoHeaderSays) {
  constexpr std::string_view kQuotaBody =
      R"({"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.Help"},)"
      R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}})";
  EXPECT_EQ(wait("", "", kQuotaBody), Milliseconds(34'400));
  EXPECT_EQ(wait("", "", "[" + std::string(kQuotaBody) + "]"), Milliseconds(34'400));
  EXPECT_EQ(wait("3", "", kQuotaBody), seconds(3));
  EXPECT_EQ(wait("", "", R"({"error":{"details":[{"retryDelay":"soon"}]}})"), std::nullopt);
  EXPECT_EQ(wait("", "", R"({"error":{"details":[{"retryDelay":"3s")"), std::nullopt);
}

}  // namespace
}  // namespace qq::providers
