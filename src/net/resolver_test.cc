#include "net/resolver.h"

#include "net/test_dns_server.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Mode = DnsAnswer::Mode;
using Addresses = Result<std::vector<Address>>;

std::vector<std::string> texts(const Addresses& addresses) {
  std::vector<std::string> result;
  if (!addresses) return {std::string(to_string(addresses.error().kind))};
  for (const Address& address : *addresses) result.push_back(address.text());
  return result;
}

DnsAnswer addresses(std::vector<std::string> v4, std::vector<std::string> v6 = {}, std::uint32_t ttl = 60) {
  DnsAnswer answer;
  answer.v4 = std::move(v4);
  answer.v6 = std::move(v6);
  answer.ttl = ttl;
  return answer;
}
DnsAnswer failing(Mode mode) {
  DnsAnswer answer;
  answer.mode = mode;
  return answer;
}

class ResolverTest : public ::testing::Test {
 protected:
  EpollLoopOptions options(std::chrono::milliseconds shortest_fresh = 1s) {
    EpollLoopOptions options;
    options.dns.servers = server_.servers();
    options.dns.timeout = 200ms;
    options.dns.tries = 2;
    options.dns.shortest_fresh = shortest_fresh;
    options.dns.patience = 20ms;
    return options;
  }
  TestDnsServer server_;
};

Task<void> ask(EventLoop& loop, std::string host, Scope scope, std::vector<std::string>& got) {
  got = texts(co_await loop.resolve(std::move(host), 443, scope));
}
Task<void> ask_after(EventLoop& loop, std::chrono::milliseconds pause, std::string host,
                     std::vector<std::string>& got) {
  static_cast<void>(co_await time_passes(loop, within(loop, pause)));
  got = texts(co_await loop.resolve(std::move(host), 443, patiently(loop)));
}

TEST_F(ResolverTest, BothKindsOfAddressesTakeTurns) {
  server_.set("api.example.com", addresses({"203.0.113.1", "203.0.113.2"}, {"2001:db8::1", "2001:db8::2"}));
  EpollLoop loop(options());
  std::vector<std::string> got;
  run_task(loop, ask(loop, "api.example.com", patiently(loop), got));
  ASSERT_EQ(got.size(), 4U);
  EXPECT_NE(got[0].starts_with('['), got[1].starts_with('['));
  EXPECT_EQ(got[0].starts_with('['), got[2].starts_with('['));
  std::ranges::sort(got);
  EXPECT_EQ(got, (std::vector<std::string>{"203.0.113.1:443", "203.0.113.2:443", "[2001:db8::1]:443",
                                           "[2001:db8::2]:443"}));
}

TEST_F(ResolverTest, AFreshAnswerIsNotAskedForAgainWhateverItsCase) {
  server_.set("api.example.com", addresses({"203.0.113.1"}));
  EpollLoop loop(options());
  std::vector<std::string> got;
  run_task(loop, ask(loop, "api.example.com", patiently(loop), got));
  run_task(loop, ask(loop, "API.Example.com", patiently(loop), got));
  EXPECT_EQ(got, std::vector<std::string>{"203.0.113.1:443"});
  EXPECT_EQ(server_.asked("api.example.com"), 1);
}

Task<void> ask_once(EventLoop& loop, std::string host, std::vector<std::string>& got) {
  got = texts(co_await loop.resolve_once(std::move(host), 443, patiently(loop)));
}

TEST_F(ResolverTest, AnswersAboutStrangersNamesAreNotKept) {
  server_.set("pictures.example.com", addresses({"203.0.113.1"}));
  EpollLoop loop(options());
  std::vector<std::string> got;
  for (int i = 1; i <= 2; ++i) {
    run_task(loop, ask_once(loop, "pictures.example.com", got));
    EXPECT_EQ(got, std::vector<std::string>{"203.0.113.1:443"});
    EXPECT_EQ(server_.asked("pictures.example.com"), i);
  }
  run_task(loop, ask(loop, "pictures.example.com", patiently(loop), got));
  run_task(loop, ask_once(loop, "pictures.example.com", got));
  EXPECT_EQ(server_.asked("pictures.example.com"), 3) << "what is there is used";
}

TEST_F(ResolverTest, AnExpiredAnswerIsAskedForAgain) {
  server_.set("api.example.com", addresses({"203.0.113.1"}, {}, 0));
  EpollLoop loop(options(1ms));
  std::vector<std::string> got;
  run_task(loop, ask(loop, "api.example.com", patiently(loop), got));
  server_.set("api.example.com", addresses({"203.0.113.2"}, {}, 0));
  run_task(loop, ask_after(loop, 5ms, "api.example.com", got));
  EXPECT_EQ(got, std::vector<std::string>{"203.0.113.2:443"});
}

TEST_F(ResolverTest, WhileDnsFailsOrIsSilentTheOldAnswerStandsIn) {
  for (const Mode mode : {Mode::ServerFailure, Mode::NoSuchName, Mode::Silence}) {
    server_.set("api.example.com", addresses({"203.0.113.1"}, {}, 0));
    EpollLoop loop(options(1ms));
    std::vector<std::string> got;
    run_task(loop, ask(loop, "api.example.com", patiently(loop), got));
    server_.set("api.example.com", failing(mode));
    run_task(loop, ask_after(loop, 5ms, "api.example.com", got));
    EXPECT_EQ(got, std::vector<std::string>{"203.0.113.1:443"}) << static_cast<int>(mode);
    const int asked = server_.asked("api.example.com");
    run_task(loop, ask_after(loop, 5ms, "api.example.com", got));
    EXPECT_EQ(server_.asked("api.example.com"), asked) << "and DNS is left alone for a while";
  }
}

TEST_F(ResolverTest, FailuresWithoutAnOldAnswerAreFailures) {
  server_.set("broken.example.com", failing(Mode::ServerFailure));
  server_.set("silent.example.com", failing(Mode::Silence));
  server_.set("empty.example.com", addresses({}, {}));
  EpollLoop loop(options());
  for (const char* host :
       {"unknown.example.com", "broken.example.com", "silent.example.com", "empty.example.com"}) {
    std::vector<std::string> got;
    run_task(loop, ask(loop, host, patiently(loop), got));
    EXPECT_EQ(got, std::vector<std::string>{"dns_failed"}) << host;
  }
}

TEST_F(ResolverTest, RequestsForOneNameShareTheLookUp) {
  server_.set("api.example.com", addresses({"203.0.113.1"}));
  EpollLoop loop(options());
  std::array<std::vector<std::string>, 10> got;
  TaskGroup group;
  for (auto& each : got) group.spawn(ask(loop, "api.example.com", patiently(loop), each));
  run_task(loop, [](TaskGroup& joined) -> Task<void> { co_await joined.joined(); }(group));
  for (const auto& each : got) EXPECT_EQ(each, std::vector<std::string>{"203.0.113.1:443"});
  EXPECT_EQ(server_.asked("api.example.com"), 1);
}

TEST_F(ResolverTest, AnAnswerOverTcpComesWithoutWaitingForTheTimeout) {
  DnsAnswer answer = addresses({}, {"2001:db8::1"});
  answer.mode = Mode::OverTcpOnly;
  for (int i = 1; i <= 200; ++i) answer.v4.push_back("203.0.113." + std::to_string(i));
  server_.set("big.example.com", answer);
  EpollLoopOptions slow = options();
  slow.dns.timeout = 10s;
  EpollLoop loop(slow);
  std::vector<std::string> got;
  run_task(loop, ask(loop, "big.example.com", within(loop, 5s), got));
  EXPECT_EQ(got.size(), 201U);
}

TEST_F(ResolverTest, TheScopesDeadlineEndsTheWait) {
  server_.set("silent.example.com", failing(Mode::Silence));
  EpollLoop loop(options());
  std::vector<std::string> got;
  run_task(loop, ask(loop, "silent.example.com", within(loop, 10ms), got));
  EXPECT_EQ(got, std::vector<std::string>{"dns_failed"});
}

Task<void> cancelled_ask(EventLoop& loop, Cancellation& cancel, std::vector<std::string>& got) {
  got = texts(co_await loop.resolve("silent.example.com", 443, until_cancelled(cancel)));
}
TEST_F(ResolverTest, ACancelledLookUpSaysWhyAndTheOthersGoOn) {
  server_.set("silent.example.com", failing(Mode::Silence));
  EpollLoop loop(options());
  Cancellation cancel(loop);
  std::vector<std::string> cancelled;
  std::vector<std::string> other;
  TaskGroup group;
  group.spawn(cancelled_ask(loop, cancel, cancelled));
  group.spawn(ask(loop, "silent.example.com", patiently(loop), other));
  loop.post([&] { cancel.cancel(ErrorKind::ClientGone); });
  run_task(loop, [](TaskGroup& joined) -> Task<void> { co_await joined.joined(); }(group));
  EXPECT_EQ(cancelled, std::vector<std::string>{"client_gone"});
  EXPECT_EQ(other, std::vector<std::string>{"dns_failed"});
}

TEST_F(ResolverTest, LocalhostIsAnsweredWithoutDns) {
  EpollLoop loop(options());
  std::vector<std::string> got;
  for (const char* name : {"localhost", "LocalHost", "localhost.", "api.localhost"}) {
    run_task(loop, ask(loop, name, patiently(loop), got));
    EXPECT_EQ(got, (std::vector<std::string>{"127.0.0.1:443", "[::1]:443"})) << name;
    EXPECT_EQ(server_.asked(name), 0) << name;
  }
}

TEST_F(ResolverTest, ALoopMayEndWhileDnsIsAsked) {
  server_.set("silent.example.com", failing(Mode::Silence));
  auto loop = std::make_unique<EpollLoop>(options());
  std::vector<std::string> got;
  run_task(*loop, ask(*loop, "silent.example.com", within(*loop, 5ms), got));
  loop.reset();
  EXPECT_EQ(got, std::vector<std::string>{"dns_failed"});
}

}  // namespace
}  // namespace qq::net
