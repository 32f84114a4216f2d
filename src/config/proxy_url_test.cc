#include "config/proxy_url.h"

#include <gtest/gtest.h>

namespace qq::config {
namespace {

TEST(ProxyUrl, HasAHostAndAPort) {
  const auto proxy = parse_proxy_url("http://proxy.example:3128").value();
  EXPECT_EQ(proxy.host, "proxy.example");
  EXPECT_EQ(proxy.port, 3128);
  EXPECT_EQ(proxy.authorization, "");
}

TEST(ProxyUrl, TakesAnIpv6AddressOutOfItsBrackets) {
  EXPECT_EQ(parse_proxy_url("http://[::1]:3128/").value().host, "::1");
}

TEST(ProxyUrl, TurnsUserAndPasswordIntoBasicAuthorization) {
  // RFC 7617, section 2: "Aladdin:open sesame".
  EXPECT_EQ(parse_proxy_url("http://Aladdin:open%20sesame@p:1").value().authorization,
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(parse_proxy_url("http://a:b@p:1").value().authorization, "Basic YTpi");
  EXPECT_EQ(parse_proxy_url("http://ab@p:1").value().authorization, "Basic YWI6");
  EXPECT_EQ(parse_proxy_url("http://a:p%40ss@p:1").value().authorization, "Basic YTpwQHNz");
}

TEST(ProxyUrl, RefusesEverythingElseWithoutRepeatingIt) {
  for (const auto* bad : {"", "proxy:3128", "https://p:1", "http://", "http://p", "http://p:", "http://p:0",
                          "http://p:65536", "http://p:1x", "http://:1", "http://p:1/path", "http://p q:1",
                          "http://::1:3128", "http://canary%@p:1", "http://canary%0a:b@p:1",
                          "http://:canary@p:1", "http://a:canary@", "http://p:1#canary", "http://p:1?x"}) {
    const auto proxy = parse_proxy_url(bad);
    ASSERT_FALSE(proxy.has_value()) << bad;
    EXPECT_EQ(proxy.error().find("canary"), std::string::npos);
  }
}

}  // namespace
}  // namespace qq::config
