#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "providers/catalogue.h"

namespace qq::providers {
namespace {

Error bad_url(std::string_view why) {
  return Error::gateway(ErrorKind::Config, "base_url: " + std::string(why));
}

bool is_host_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

Result<std::string> parse_host(std::string_view text) {
  std::string host(text);
  std::ranges::transform(host, host.begin(), ascii_lower);
  if (host.empty()) return fail(bad_url("has no host; write https://host/path"));
  if (!std::ranges::all_of(host, is_host_char)) {
    return fail(
        bad_url("has a character in its host that no host name has; write international names in "
                "their xn-- form"));
  }
  return host;
}

Result<std::string> parse_bracketed(std::string_view text) {
  const bool plausible = text.find(':') != std::string_view::npos &&
                         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  if (!plausible) return fail(bad_url("has no IPv6 address between its brackets"));
  return std::string(text);
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end || port == 0) {
    return fail(bad_url("has a port that is no number from 1 to 65535"));
  }
  return port;
}

}  // namespace

Result<BaseUrl> parse_base_url(std::string_view url) {
  const bool all_printable = std::ranges::all_of(url, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!all_printable) return fail(bad_url("holds white space, a control byte or a byte that is not ASCII"));

  BaseUrl parsed;
  if (url.starts_with("https://")) {
    url.remove_prefix(8);
  } else if (url.starts_with("http://")) {
    url.remove_prefix(7);
    parsed.origin.tls = false;
    parsed.origin.port = 80;
  } else {
    return fail(bad_url("must begin with https:// or http://"));
  }
  if (url.find_first_of("?#") != std::string_view::npos) {
    return fail(bad_url("must have no query and no fragment; api_version has its own key"));
  }
  const std::size_t path_at = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, path_at);
  std::string_view path = url.substr(path_at);
  if (authority.find('@') != std::string_view::npos) {
    return fail(bad_url("must hold no user name or password; credentials belong to accounts"));
  }

  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return fail(bad_url("opens a bracket and does not close it"));
    QQ_TRY(parsed.origin.host, parse_bracketed(authority.substr(1, close - 1)));
    std::string_view rest = authority.substr(close + 1);
    has_port = !rest.empty();
    if (has_port && rest[0] != ':')
      return fail(bad_url("has something other than a port behind its bracket"));
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    QQ_TRY(parsed.origin.host, parse_host(authority.substr(0, colon)));
  }
  if (has_port) {
    QQ_TRY(parsed.origin.port, parse_port(port));
  }

  while (path.ends_with('/')) path.remove_suffix(1);
  parsed.path = path;
  model::Origin& origin = parsed.origin;
  const bool is_ipv6 = origin.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + origin.host + "]" : origin.host;
  const std::string with_port = host + ":" + std::to_string(origin.port);
  origin.authority = origin.port == (origin.tls ? 443 : 80) ? host : with_port;
  origin.pool_key = (origin.tls ? "https://" : "http://") + with_port;
  return parsed;
}

}  // namespace qq::providers
