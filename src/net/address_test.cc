#include "net/address.h"

namespace qq::net {
namespace {

TEST(Address, TextFormsRoundTrip) {
  for (const char* text :
       {"127.0.0.1:8080", "[::1]:8080", "0.0.0.0:0", "[2001:db8::7]:443", "255.255.255.255:65535"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(address->text(), text);
  }
}

TEST(Address, PortAloneMeansAnyIpv4Address) {
  EXPECT_EQ(Address::parse(":8080")->text(), "0.0.0.0:8080");
}

TEST(Address, RefusesWhatIsNoNumericAddressWithAPort) {
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
        "localhost:80", "::1:80", "[::1]", "[::1:80", "127.0.0.1:8 0", "[127.0.0.1]:80", "[fe80::1%eth0]:80",
        "127.0.0.1:+80", "1.2.3:80", "0127.0.0.1:80"}) {
    EXPECT_FALSE(Address::parse(text).has_value()) << text;
  }
}

TEST(Address, HostTextHasNoPortAndNoBrackets) {
  EXPECT_EQ(Address::parse("[::1]:80")->host_text(), "::1");
  EXPECT_EQ(Address::from_host("[::1]", 80)->host_text(), "::1");
}

TEST(Address, KnowsLoopbackInAllItsForms) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(Address::from_host(host, 1)->is_loopback()) << host;
  }
  for (const char* host : {"128.0.0.1", "10.0.0.1", "::2", "::ffff:8.8.8.8"}) {
    EXPECT_FALSE(Address::from_host(host, 1)->is_loopback()) << host;
  }
}

TEST(Address, EqualityLooksAtHostAndPort) {
  EXPECT_EQ(Address::parse("127.0.0.1:80").value(), Address::parse("127.0.0.1:80").value());
  EXPECT_FALSE(Address::parse("127.0.0.1:80").value() == Address::parse("127.0.0.1:81").value());
  EXPECT_FALSE(Address::parse("127.0.0.1:80").value() == Address::parse("[::ffff:127.0.0.1]:80").value());
  EXPECT_EQ(Address::parse("[::1]:80")->with_port(81), Address::parse("[::1]:81").value());
}

TEST(Address, IsSmallEnoughToStandInEveryStream) {
  EXPECT_LE(sizeof(Address), 32U);
}

}  // namespace
}  // namespace qq::net
