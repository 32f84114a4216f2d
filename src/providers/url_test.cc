#include "providers/catalogue.h"

namespace qq::providers {
namespace {

struct Good {
  std::string_view url, host;
  std::uint16_t port;
  bool tls;
  std::string_view path, pool_key;
};

TEST(BaseUrl, IsTakenApart) {
  constexpr std::array kCases = {
      Good{"https://api.openai.com/v1", "api.openai.com", 443, true, "/v1", "https://api.openai.com:443"},
      Good{"https://API.Example.com/v1///", "api.example.com", 443, true, "/v1",
           "https://api.example.com:443"},
      Good{"http://10.0.0.5:8000", "10.0.0.5", 8000, false, "", "http://10.0.0.5:8000"},
      Good{"http://localhost/", "localhost", 80, false, "", "http://localhost:80"},
      Good{"https://[::1]:8443/a/b%20c", "::1", 8443, true, "/a/b%20c", "https://[::1]:8443"},
      Good{"http://[fe80::1]", "fe80::1", 80, false, "", "http://[fe80::1]:80"},
      Good{"https://my_host.internal:65535/x", "my_host.internal", 65535, true, "/x",
           "https://my_host.internal:65535"},
  };
  for (const Good& good : kCases) {
    const auto parsed = parse_base_url(good.url);
    ASSERT_TRUE(parsed) << good.url << ": " << parsed.error().message;
    EXPECT_EQ(parsed->origin.host, good.host);
    EXPECT_EQ(parsed->origin.port, good.port);
    EXPECT_EQ(parsed->origin.tls, good.tls);
    EXPECT_EQ(parsed->path, good.path);
    EXPECT_EQ(parsed->origin.pool_key, good.pool_key);
  }
}

TEST(BaseUrl, TellsWhatTheHostHeaderSays) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kCases = {{
      {"https://api.openai.com/v1", "api.openai.com"},
      {"https://api.openai.com:443/v1", "api.openai.com"},
      {"http://api.openai.com:443/v1", "api.openai.com:443"},
      {"http://127.0.0.1:8000/v1", "127.0.0.1:8000"},
      {"https://[::1]:8443", "[::1]:8443"},
      {"http://[fe80::1]:80", "[fe80::1]"},
  }};
  for (const auto& [url, authority] : kCases) {
    const auto parsed = parse_base_url(url);
    ASSERT_TRUE(parsed) << url;
    EXPECT_EQ(parsed->origin.authority, authority) << url;
  }
}

TEST(BaseUrl, RefusesWhatIsNone) {
  constexpr std::array kCases = {
      "",
      "api.openai.com",
      "ftp://host/",
      "https://",
      "https:///v1",
      "https://user:key@host/v1",
      "https://user@host",
      "https://host/v1?x=1",
      "https://host/#f",
      "https://host:0/",
      "https://host:65536/",
      "https://host:/",
      "https://host:80a/",
      "https://ho st/",
      "https://host\r\n/",
      "https://host/\x01",
      "https://[::1/",
      "https://[]/",
      "https://[::1]8080/",
      "https://[host]/",
      "https://h\xc3\xb6st/",
      "https://host,other/",
      "HTTPS//host",
  };
  for (const char* url : kCases) {
    const auto parsed = parse_base_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Config) << url;
  }
}

}  // namespace
}  // namespace qq::providers
