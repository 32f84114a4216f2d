// "http://user:password@proxy.example:3128" for CONNECT through an outbound proxy.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "relay/settings.h"

namespace qq::config {

// User and password may be percent-encoded. Only plain http proxies; the port must be given. The error
// never repeats any part of the URL, since it may hold a password.
std::expected<relay::OutboundProxy, std::string> parse_proxy_url(std::string_view url);

}  // namespace qq::config
