#include "config/proxy_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/base64.h"
#include "base/percent.h"

namespace qq::config {
namespace {

// No control characters: they would end the header line.
std::optional<std::string> decoded(std::string_view text) {
  auto out = percent_decoded(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (out && std::ranges::any_of(*out, is_control)) return std::nullopt;
  return out;
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
  });
}

}  // namespace

std::expected<relay::OutboundProxy, std::string> parse_proxy_url(std::string_view url) {
  const std::unexpected<std::string> form(
      "a proxy's URL of the form http://host:port or http://user:password@host:port");
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return form;
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  relay::OutboundProxy proxy;
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::string_view user_info = url.substr(0, at);
    const std::size_t colon = user_info.find(':');
    const auto user = decoded(user_info.substr(0, colon));
    const auto password = decoded(colon == std::string_view::npos ? "" : user_info.substr(colon + 1));
    // RFC 7617: the user name holds no colon.
    if (!user || !password || user->empty() || user->find(':') != std::string::npos) return form;
    proxy.authorization = "Basic " + to_base64(*user + ":" + *password);
    url.remove_prefix(at + 1);
  }
  std::string_view host = url.substr(0, url.rfind(':'));
  if (url.rfind(':') == std::string_view::npos) return form;
  const std::string_view port = url.substr(url.rfind(':') + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return form;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), proxy.port);
  if (!is_host(host) || port.empty() || error != std::errc{} || end != port.data() + port.size() ||
      proxy.port == 0) {
    return form;
  }
  proxy.host = host;
  return proxy;
}

}  // namespace qq::config
