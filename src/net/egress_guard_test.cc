#include "net/egress_guard.h"

#include "net/epoll_loop.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace testing;

enum class Verdict : std::uint8_t { Public, Private, Never };

struct Case {
  const char* host;
  Verdict verdict;
};

constexpr Case kAddresses[] = {
    // Public.
    {"8.8.8.8", Verdict::Public},
    {"1.1.1.1", Verdict::Public},
    {"104.18.7.192", Verdict::Public},
    {"172.15.255.255", Verdict::Public},
    {"172.32.0.0", Verdict::Public},
    {"100.63.255.255", Verdict::Public},
    {"100.128.0.0", Verdict::Public},
    {"192.167.255.255", Verdict::Public},
    {"223.255.255.255", Verdict::Public},
    {"2606:4700::1111", Verdict::Public},
    {"2a00:1450:4001:82a::200e", Verdict::Public},
    {"::ffff:8.8.8.8", Verdict::Public},
    {"64:ff9b::8.8.8.8", Verdict::Public},
    {"2002:808:808::1", Verdict::Public},
    // Private: only where the provider's configuration opens it.
    {"127.0.0.1", Verdict::Private},
    {"127.255.255.254", Verdict::Private},
    {"10.0.0.1", Verdict::Private},
    {"10.255.255.255", Verdict::Private},
    {"172.16.0.1", Verdict::Private},
    {"172.31.255.255", Verdict::Private},
    {"192.168.0.1", Verdict::Private},
    {"100.64.0.1", Verdict::Private},
    {"100.127.255.255", Verdict::Private},
    {"::1", Verdict::Private},
    {"0:0:0:0:0:0:0:1", Verdict::Private},
    {"fc00::1", Verdict::Private},
    {"fd12:3456:789a::1", Verdict::Private},
    {"::ffff:127.0.0.1", Verdict::Private},
    {"::ffff:7f00:1", Verdict::Private},
    {"::ffff:10.1.2.3", Verdict::Private},
    {"::127.0.0.1", Verdict::Private},
    {"::7f00:1", Verdict::Private},
    {"::ffff:0:127.0.0.1", Verdict::Private},
    {"64:ff9b::7f00:1", Verdict::Private},
    {"64:ff9b::192.168.1.1", Verdict::Private},
    {"2002:7f00:1::", Verdict::Private},
    {"2002:a00:1::1", Verdict::Private},
    {"2002:c0a8:101::1", Verdict::Private},
    // Never.
    {"0.0.0.0", Verdict::Never},
    {"0.1.2.3", Verdict::Never},
    {"169.254.169.254", Verdict::Never},
    {"169.254.0.1", Verdict::Never},
    {"192.0.0.192", Verdict::Never},
    {"192.0.2.1", Verdict::Never},
    {"198.18.0.1", Verdict::Never},
    {"198.51.100.1", Verdict::Never},
    {"203.0.113.1", Verdict::Never},
    {"224.0.0.1", Verdict::Never},
    {"239.255.255.255", Verdict::Never},
    {"240.0.0.1", Verdict::Never},
    {"255.255.255.255", Verdict::Never},
    {"100.100.100.200", Verdict::Never},
    {"::", Verdict::Never},
    {"::ffff:169.254.169.254", Verdict::Never},
    {"::ffff:a9fe:a9fe", Verdict::Never},
    {"64:ff9b::a9fe:a9fe", Verdict::Never},
    {"64:ff9b:1::8.8.8.8", Verdict::Never},
    {"2002:a9fe:a9fe::1", Verdict::Never},
    {"fd00:ec2::254", Verdict::Never},
    {"fe80::1", Verdict::Never},
    {"febf::1", Verdict::Never},
    {"fec0::1", Verdict::Never},
    {"ff02::1", Verdict::Never},
    {"2001:db8::1", Verdict::Never},
    {"2001::1", Verdict::Never},
    {"3fff::1", Verdict::Never},
    {"100::1", Verdict::Never},
    {"4000::1", Verdict::Never},
    {"5f00::1", Verdict::Never},
};

TEST(EgressGuard, JudgesEveryRangeAndEveryDisguise) {
  for (const auto& [host, verdict] : kAddresses) {
    const auto address = Address::from_host(host, 443);
    ASSERT_TRUE(address.has_value()) << host;
    EXPECT_EQ(egress_allowed(*address, EgressPolicy::PublicOnly), verdict == Verdict::Public) << host;
    EXPECT_EQ(egress_allowed(*address, EgressPolicy::AllowPrivate), verdict != Verdict::Never) << host;
  }
}

TEST(EgressGuard, AnAddressOfNoFamilyIsDenied) {
  EXPECT_FALSE(egress_allowed(Address(), EgressPolicy::AllowPrivate));
}

// Spellings that some library somewhere reads as a private address. They either stay text that no resolver is
// asked about, or become an address that the guard then judges.
constexpr const char* kSpellings[] = {
    "0x7f.1",
    "0x7f.0.0.1",
    "0X7F.0.0.1",
    "0x7f000001",
    "0x7F000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0177.0x0.0.1",
    "127.1",
    "127.0.1",
    "127.0.0.01",
    "127.000.000.001",
    "0127.0.0.1",
    "127.0.0.1.",
    "127.0.0.0x1",
    "[::ffff:7f00:1]",
    "[::ffff:127.0.0.1]",
    "[::1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "::ffff:7f00:1",
    "::FFFF:7F00:1",
    "0:0:0:0:0:0:0:1",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::1%25lo]",
    "[::1%lo]",
    "[fe80::1%eth0]",
    "0",
    "0.0.0.0",
    "0x0",
    "00000000",
    "3232235777",
    "0xc0a80101",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "[::ffff:a9fe:a9fe]",
    "10.0.0.1",
    "10.1",
    "012.1",
    "0xa.1",
    "167772161",
    "192.168.257",
    "192.168.1.1",
    "127.0.0.1:80",
    "user@127.0.0.1",
    "127.0.0.1#x",
    "127.0.0.1/",
    "127.0.0.1?x",
    "127.0.0.1%00",
    "127.0.0.1\r\nHost: x",
    " 127.0.0.1",
    "127.0.0.1 ",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "127.0.0.1\\x",
    "[127.0.0.1]",
    "[[::1]]",
    "",
    ".",
    "..",
    "1.2.3.4.5",
    "example.com.0x7f",
};
static_assert(std::size(kSpellings) >= 60);

Task<void> spelled(EventLoop& loop, std::string host) {
  const auto addresses = co_await loop.resolve(host, 443, patiently(loop));
  if (!addresses) {
    EXPECT_EQ(addresses.error().kind, ErrorKind::DnsFailed) << host;
    co_return;
  }
  for (const Address& address : *addresses) {
    EXPECT_FALSE(egress_allowed(address, EgressPolicy::PublicOnly)) << host << " became " << address.text();
  }
}
TEST(EgressGuard, NoSpellingOfAPrivateAddressGetsThrough) {
  EpollLoopOptions options;
  options.dns.servers = "127.0.0.1:1";  // nobody answers there: no spelling may need it
  options.dns.timeout = std::chrono::milliseconds(50);
  options.dns.tries = 1;
  EpollLoop loop(options);
  for (const char* host : kSpellings) run_task(loop, spelled(loop, host));
}

}  // namespace
}  // namespace qq::net
