// An IPv4 or IPv6 address with a port, and the text forms of it.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace qq::net {

class Address {
 public:
  Address() = default;
  static Address from(const sockaddr* address, socklen_t length);
  // "127.0.0.1:8080", "[::1]:8080", "0.0.0.0:0", ":8080" (any IPv4 address). Numeric only, no names.
  static Result<Address> parse(std::string_view text);
  // A bare numeric host ("127.0.0.1", "::1", "[::1]") with a port; an error for names and for the
  // historic spellings of IPv4 ("0x7f.1", "127.1", "2130706433").
  static Result<Address> from_host(std::string_view numeric_host, std::uint16_t port);

  [[nodiscard]] const sockaddr* data() const noexcept;
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.any.sa_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string text() const;       // with the port
  [[nodiscard]] std::string host_text() const;  // without
  [[nodiscard]] bool is_loopback() const noexcept;
  [[nodiscard]] Address with_port(std::uint16_t port) const noexcept;
  friend bool operator==(const Address& a, const Address& b) noexcept;

 private:
  // Not sockaddr_storage: its 128 bytes would be half of an idle stream.
  union Storage {
    sockaddr_in6 v6;
    sockaddr_in v4;
    sockaddr any;
  };
  Storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace qq::net
