#include "net/egress_guard.h"

#include <netinet/in.h>

#include <array>
#include <cstring>

namespace qq::net {
namespace {

enum class Kind : std::uint8_t { Public, Private, Never };

struct V4Range {
  std::uint32_t first;
  int bits;
  Kind kind;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24U | b << 16U | c << 8U | d;
}

// Source: the IANA IPv4 special-purpose address registry (RFC 6890 and its updates).
constexpr std::array kV4 = {
    V4Range{v4(0, 0, 0, 0), 8, Kind::Never},         // "this network": connects to the host itself
    V4Range{v4(10, 0, 0, 0), 8, Kind::Private},      // RFC 1918
    V4Range{v4(100, 64, 0, 0), 10, Kind::Private},   // RFC 6598, carrier-grade NAT
    V4Range{v4(127, 0, 0, 0), 8, Kind::Private},     // loopback
    V4Range{v4(169, 254, 0, 0), 16, Kind::Never},    // link-local: cloud metadata lives there
    V4Range{v4(172, 16, 0, 0), 12, Kind::Private},   // RFC 1918
    V4Range{v4(192, 0, 0, 0), 24, Kind::Never},      // protocol assignments
    V4Range{v4(192, 0, 2, 0), 24, Kind::Never},      // documentation
    V4Range{v4(192, 88, 99, 0), 24, Kind::Never},    // 6to4 relay anycast, deprecated
    V4Range{v4(192, 168, 0, 0), 16, Kind::Private},  // RFC 1918
    V4Range{v4(198, 18, 0, 0), 15, Kind::Never},     // benchmarking
    V4Range{v4(198, 51, 100, 0), 24, Kind::Never},   // documentation
    V4Range{v4(203, 0, 113, 0), 24, Kind::Never},    // documentation
    V4Range{v4(224, 0, 0, 0), 4, Kind::Never},       // multicast
    V4Range{v4(240, 0, 0, 0), 4, Kind::Never},       // reserved and broadcast
};
// Alibaba Cloud's metadata service stands inside the carrier-grade range, so opening private ranges must
// not open it. Source: alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
constexpr std::uint32_t kAlibabaMetadata = v4(100, 100, 100, 200);

Kind classify_v4(std::uint32_t address) noexcept {
  if (address == kAlibabaMetadata) return Kind::Never;
  for (const V4Range& range : kV4) {
    if ((address ^ range.first) >> (32 - range.bits) == 0) return range.kind;
  }
  return Kind::Public;
}

struct V6Range {
  std::array<std::uint8_t, 16> first;
  int bits;
  Kind kind;
};

// Source: the IANA IPv6 special-purpose address registry. What is outside 2000::/3 is denied as a whole
// further down; these are the exceptions on both sides of that line.
constexpr std::array kV6 = {
    V6Range{{0xfc}, 7, Kind::Private},                   // RFC 4193
    V6Range{{0x20, 0x01, 0x00, 0x00}, 23, Kind::Never},  // Teredo, ORCHID, ...
    V6Range{{0x20, 0x01, 0x0d, 0xb8}, 32, Kind::Never},  // documentation
    V6Range{{0x3f, 0xff, 0x00}, 20, Kind::Never},        // documentation
};
// AWS's metadata service stands in the private range. Source: docs.aws.amazon.com, "Access instance
// metadata".
constexpr std::array<std::uint8_t, 16> kAwsMetadata = {0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0,
                                                       0,    0, 0,    0,    0, 0, 2, 0x54};

bool has_prefix(const std::uint8_t* address, const std::uint8_t* prefix, int bits) noexcept {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(address, prefix, whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((address[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

std::uint32_t v4_at(const std::uint8_t* bytes) noexcept {
  return v4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

Kind classify_v6(const std::uint8_t* a) noexcept {
  static constexpr std::array<std::uint8_t, 16> kLoopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr std::array<std::uint8_t, 12> kTranslated = {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0};
  static constexpr std::array<std::uint8_t, 12> kCompatible = {};
  static constexpr std::array<std::uint8_t, 12> kNat64 = {0, 0x64, 0xff, 0x9b};
  static constexpr std::array<std::uint8_t, 6> kLocalNat64 = {0, 0x64, 0xff, 0x9b, 0, 1};

  if (std::memcmp(a, kLoopback.data(), 16) == 0) return Kind::Private;
  // Forms that carry an IPv4 address are as good as that address.
  if (has_prefix(a, kMapped.data(), 96)) return classify_v4(v4_at(a + 12));
  if (has_prefix(a, kTranslated.data(), 96)) return classify_v4(v4_at(a + 12));
  if (has_prefix(a, kCompatible.data(), 96)) return classify_v4(v4_at(a + 12));  // :: is 0.0.0.0
  if (has_prefix(a, kNat64.data(), 96)) return classify_v4(v4_at(a + 12));
  // RFC 8215: where the IPv4 address stands depends on the site's prefix length, so it cannot be judged.
  if (has_prefix(a, kLocalNat64.data(), 48)) return Kind::Never;
  if (a[0] == 0x20 && a[1] == 0x02) return classify_v4(v4_at(a + 2));  // 6to4
  if (std::memcmp(a, kAwsMetadata.data(), 16) == 0) return Kind::Never;
  for (const V6Range& range : kV6) {
    if (has_prefix(a, range.first.data(), range.bits)) return range.kind;
  }
  // Only 2000::/3 is given out as global unicast; link-local, site-local and multicast are outside it.
  return (a[0] & 0xe0U) == 0x20 ? Kind::Public : Kind::Never;
}

Kind classify(const Address& address) noexcept {
  if (address.family() == AF_INET) {
    sockaddr_in v4_address{};
    std::memcpy(&v4_address, address.data(), sizeof v4_address);
    return classify_v4(ntohl(v4_address.sin_addr.s_addr));
  }
  if (address.family() == AF_INET6) {
    sockaddr_in6 v6_address{};
    std::memcpy(&v6_address, address.data(), sizeof v6_address);
    return classify_v6(v6_address.sin6_addr.s6_addr);
  }
  return Kind::Never;
}

}  // namespace

bool egress_allowed(const Address& address, EgressPolicy policy) noexcept {
  switch (classify(address)) {
    case Kind::Public: return true;
    case Kind::Private: return policy == EgressPolicy::AllowPrivate;
    case Kind::Never: return false;
  }
  return false;
}

}  // namespace qq::net
