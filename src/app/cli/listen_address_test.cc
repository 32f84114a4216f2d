#include "app/cli/listen_address.h"

#include <gtest/gtest.h>

namespace qq::app::cli {
namespace {

TEST(ListenAddress, NumericAddressesStayAsTheyAre) {
  for (const std::string_view typed : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:8080", ":8080"})
    EXPECT_EQ(listen_address(typed), typed);
}

TEST(ListenAddress, LocalhostAndABarePortAreTheLoopback) {
  EXPECT_EQ(listen_address("localhost:8080"), "127.0.0.1:8080");
  EXPECT_EQ(listen_address("8080"), "127.0.0.1:8080");
  EXPECT_EQ(listen_address("0"), "127.0.0.1:0");
}

TEST(ListenAddress, AnythingElseIsRefusedWithAnExample) {
  for (const std::string_view typed :
       {"", "localhost", "localhost:", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "65536", "host:80",
        "::1:80", "127.0.0.1:80 ", "-1"}) {
    const auto refused = listen_address(typed);
    ASSERT_FALSE(refused.has_value()) << typed;
    EXPECT_THAT(refused.error(), testing::HasSubstr("such as 127.0.0.1:8080")) << typed;
  }
}

}  // namespace
}  // namespace qq::app::cli
