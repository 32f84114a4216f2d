#include "config/proxy_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace qq::config {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> unsigned {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned group = byte(0) << 16U | byte(1) << 8U | byte(2);
    out.push_back(kAlphabet[group >> 18U & 63U]);
    out.push_back(kAlphabet[group >> 12U & 63U]);
    out.push_back(i + 1 < bytes.size() ? kAlphabet[group >> 6U & 63U] : '=');
    out.push_back(i + 2 < bytes.size() ? kAlphabet[group & 63U] : '=');
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      unsigned value = 0;
      const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error != std::errc{} || end != text.data() + i + 3) return std::nullopt;
      c = static_cast<char>(value);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return std::nullopt;
    out.push_back(c);
  }
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
    const auto user = percent_decoded(user_info.substr(0, colon));
    const auto password = percent_decoded(colon == std::string_view::npos ? "" : user_info.substr(colon + 1));
    // RFC 7617: the user name holds no colon.
    if (!user || !password || user->empty() || user->find(':') != std::string::npos) return form;
    proxy.authorization = "Basic " + base64(*user + ":" + *password);
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
