// Where an operator may say that something listens on: what the configuration takes, and what one types.
#pragma once
#include <expected>
#include <string>
#include <string_view>

namespace qq::app::cli {

// The numeric address with port: "localhost:80" and "80" are the loopback's, ":80" stays all interfaces. If
// it is none, in words, what is wrong.
std::expected<std::string, std::string> listen_address(std::string_view typed);

}  // namespace qq::app::cli
