// The egress guard: which resolved addresses an outbound connection may go to. It judges the address that
// is then connected to (no second look-up), so a name that rebinds cannot slip past it.
//
// Denied by default: loopback, private (RFC 1918, RFC 4193), link-local (cloud metadata included), CGNAT
// (RFC 6598), unspecified, multicast, reserved, documentation ranges; and the same behind IPv4-mapped,
// IPv4-compatible, NAT64 (RFC 6052) and 6to4 IPv6 addresses.
#pragma once
#include "net/address.h"

namespace qq::net {

enum class EgressPolicy : std::uint8_t {
  PublicOnly,
  AllowPrivate,  // self-hosted engines: opened explicitly per provider; multicast and the like stay denied
};

bool egress_allowed(const Address& address, EgressPolicy policy) noexcept;

}  // namespace qq::net
