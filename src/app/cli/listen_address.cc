#include "app/cli/listen_address.h"

#include <fmt/core.h>

#include "net/address.h"

namespace qq::app::cli {

std::expected<std::string, std::string> listen_address(std::string_view typed) {
  static constexpr std::string_view kLocalhost = "localhost:";
  std::string text(typed);
  if (typed.starts_with(kLocalhost)) text = fmt::format("127.0.0.1:{}", typed.substr(kLocalhost.size()));
  if (typed.find_first_not_of("0123456789") == std::string_view::npos)
    text = fmt::format("127.0.0.1:{}", typed);
  const auto address = net::Address::parse(text);
  if (address) return text;
  return std::unexpected(fmt::format(
      "\"{}\" is no numeric address with a port, such as 127.0.0.1:8080, [::1]:8080 or 8080", typed));
}

}  // namespace qq::app::cli
