#include "net/address.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

namespace qq::net {
namespace {

Error bad(std::string_view text) {
  return Error::gateway(ErrorKind::Config, "\"" + std::string(text) + "\" is not a numeric address");
}

Result<std::uint16_t> parse_port(std::string_view digits, std::string_view whole) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return fail(
        Error::gateway(ErrorKind::Config, "\"" + std::string(whole) + "\" has no port between 0 and 65535"));
  }
  return port;
}

}  // namespace

Address Address::from(const sockaddr* address, socklen_t length) {
  Address result;
  if (address != nullptr && length > 0) {
    result.size_ = static_cast<socklen_t>(std::min<std::size_t>(length, sizeof(Storage)));
    std::memcpy(&result.storage_, address, result.size_);
  }
  return result;
}

Result<Address> Address::from_host(std::string_view numeric_host, std::uint16_t port) {
  std::string_view host = numeric_host;
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // inet_pton wants a terminated string; a longer text is no address anyway.
  std::array<char, INET6_ADDRSTRLEN + 1> text{};
  if (host.empty() || host.size() >= text.size() || host.find('\0') != std::string_view::npos) {
    return fail(bad(numeric_host));
  }
  host.copy(text.data(), host.size());

  Address result;
  if (!bracketed && inet_pton(AF_INET, text.data(), &result.storage_.v4.sin_addr) == 1) {
    result.storage_.v4.sin_family = AF_INET;
    result.storage_.v4.sin_port = htons(port);
    result.size_ = sizeof(sockaddr_in);
    return result;
  }
  if (inet_pton(AF_INET6, text.data(), &result.storage_.v6.sin6_addr) == 1) {
    result.storage_.v6.sin6_family = AF_INET6;
    result.storage_.v6.sin6_port = htons(port);
    result.size_ = sizeof(sockaddr_in6);
    return result;
  }
  return fail(bad(numeric_host));
}

Result<Address> Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(bad(text));
  QQ_TRY(const std::uint16_t port, parse_port(text.substr(colon + 1), text));
  const std::string_view host = text.substr(0, colon);
  if (host.empty()) return from_host("0.0.0.0", port);
  // "::1:80" could be read in two ways, so IPv6 needs its brackets here.
  if (host.front() != '[' && host.find(':') != std::string_view::npos) return fail(bad(text));
  return from_host(host, port);
}

const sockaddr* Address::data() const noexcept {
  return &storage_.any;
}

std::uint16_t Address::port() const noexcept {
  switch (family()) {
    case AF_INET: return ntohs(storage_.v4.sin_port);
    case AF_INET6: return ntohs(storage_.v6.sin6_port);
    default: return 0;
  }
}

std::string Address::host_text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  switch (family()) {
    case AF_INET: inet_ntop(AF_INET, &storage_.v4.sin_addr, text.data(), text.size()); break;
    case AF_INET6: inet_ntop(AF_INET6, &storage_.v6.sin6_addr, text.data(), text.size()); break;
    default: return "unknown";
  }
  return text.data();
}

std::string Address::text() const {
  const std::string host = host_text();
  return (family() == AF_INET6 ? "[" + host + "]" : host) + ":" + std::to_string(port());
}

bool Address::is_loopback() const noexcept {
  if (family() == AF_INET) return (ntohl(storage_.v4.sin_addr.s_addr) >> 24) == 127;
  if (family() != AF_INET6) return false;
  const in6_addr& v6 = storage_.v6.sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

Address Address::with_port(std::uint16_t port) const noexcept {
  Address result = *this;
  if (family() == AF_INET) result.storage_.v4.sin_port = htons(port);
  if (family() == AF_INET6) result.storage_.v6.sin6_port = htons(port);
  return result;
}

bool operator==(const Address& a, const Address& b) noexcept {
  if (a.family() != b.family() || a.port() != b.port()) return false;
  if (a.family() == AF_INET) return a.storage_.v4.sin_addr.s_addr == b.storage_.v4.sin_addr.s_addr;
  if (a.family() != AF_INET6) return true;
  return a.storage_.v6.sin6_scope_id == b.storage_.v6.sin6_scope_id &&
         std::memcmp(&a.storage_.v6.sin6_addr, &b.storage_.v6.sin6_addr, sizeof(in6_addr)) == 0;
}

}  // namespace qq::net
