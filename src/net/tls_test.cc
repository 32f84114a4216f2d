// TLS over every loop: what it carries, whom it trusts.
#include "net/tls.h"

#include "net/epoll_loop.h"
#include "net/simulated_loop.h"
#include "net/tls_test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Implementation {
  const char* name;
  std::unique_ptr<EventLoop> (*make)();
  std::size_t big;  // what counts as a big transfer here
};

class TlsOnEveryLoop : public ::testing::TestWithParam<Implementation> {
 protected:
  std::unique_ptr<EventLoop> owner_ = GetParam().make();
  EventLoop& loop_ = *owner_;
};

std::unique_ptr<EventLoop> byte_by_byte() {
  auto loop = std::make_unique<SimulatedLoop>();
  SimulatedNetwork network;
  network.up.split = network.down.split = Split::each(1);
  loop->set_network(network);
  return loop;
}

std::unique_ptr<EventLoop> narrow() {
  auto loop = std::make_unique<SimulatedLoop>();
  SimulatedNetwork network;
  network.up.split = network.down.split = Split::random(3, 5'000);
  network.up.window = network.down.window = 10'000;
  network.up.write_limit = network.down.write_limit = 3'001;
  network.up.latency = network.down.latency = 1ms;
  loop->set_network(network);
  return loop;
}

INSTANTIATE_TEST_SUITE_P(
    Loops, TlsOnEveryLoop,
    ::testing::Values(
        Implementation{"Epoll", [] { return std::unique_ptr<EventLoop>(new EpollLoop()); }, 3'000'000},
        Implementation{"Simulated", [] { return std::unique_ptr<EventLoop>(new SimulatedLoop()); },
                       1'000'000},
        Implementation{"ByteByByte", byte_by_byte, 40'000}, Implementation{"Narrow", narrow, 500'000}),
    [](const auto& info) { return info.param.name; });

Task<void> echo_over_tls(EventLoop& loop) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  Stream& client = *made.client->value();
  Stream& server = *made.server->value();
  co_await echo_once(client, server, "hello");
  EXPECT_TRUE(client.is_tls());
  EXPECT_EQ(tls_info(client)->version, "TLSv1.3");
  EXPECT_FALSE(tls_info(client)->resumed);
}
TEST_P(TlsOnEveryLoop, CarriesBytesBothWays) {
  run_task(loop_, echo_over_tls(loop_));
}

Task<void> write_it(Stream& stream, std::string_view bytes, Written& result) {
  result = co_await write_all(stream, bytes, patiently(stream.loop()));
}
Task<void> big_both_ways(EventLoop& loop, std::size_t big) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  Stream& client = *made.client->value();
  Stream& server = *made.server->value();
  const std::string up = noise(big, 1);
  const std::string down = noise(big + 12'345, 2);
  Written wrote_up;
  Written wrote_down;
  TaskGroup group;
  group.spawn(write_it(client, up, wrote_up));
  group.spawn(write_it(server, down, wrote_down));
  const Got at_server = co_await read_until(server, up.size(), patiently(loop));
  const Got at_client = co_await read_until(client, down.size(), patiently(loop));
  EXPECT_TRUE(at_server.bytes == up);
  EXPECT_TRUE(at_client.bytes == down);
  co_await group.joined();
  EXPECT_EQ(wrote_up.bytes, up.size());
  EXPECT_EQ(wrote_down.bytes, down.size());
}
TEST_P(TlsOnEveryLoop, BigTransfersBothWaysStayExact) {
  run_task(loop_, big_both_ways(loop_, GetParam().big));
}

Task<void> close_notify(EventLoop& loop) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  co_await write_all(*made.client->value(), "question", patiently(loop));
  made.client->value()->shutdown_write();
  const Got asked = co_await read_to_end(*made.server->value(), patiently(loop));
  EXPECT_EQ(asked.bytes, "question");
  EXPECT_EQ(asked.status, IoStatus::Closed);
  co_await write_all(*made.server->value(), "answer", patiently(loop));
  made.server->value().reset();
  const Got answer = co_await read_to_end(*made.client->value(), patiently(loop));
  EXPECT_EQ(answer.bytes, "answer");
  EXPECT_EQ(answer.status, IoStatus::Closed);
}
TEST_P(TlsOnEveryLoop, CloseNotifyIsAnOrderlyEndAndHalfClosesOnly) {
  run_task(loop_, close_notify(loop_));
}

Task<void> hangup(EventLoop& loop) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  Cancellation cancel(loop);
  made.server->value()->watch_hangup(&cancel);
  made.client->value().reset();
  EXPECT_EQ(co_await time_passes(loop, within(loop, 20s, &cancel)), Wake::Cancelled);
  made.server->value()->watch_hangup(nullptr);
}
TEST_P(TlsOnEveryLoop, HangupCancelsThroughTls) {
  run_task(loop_, hangup(loop_));
}

Task<void> resumption(EventLoop& loop) {
  const ClientPointer client = client_context();
  const ServerPointer server = server_context();
  for (int connection = 0; connection < 3; ++connection) {
    StreamPair tcp = co_await connected_pair(loop);
    Handshake made;
    co_await shake_hands(loop, std::move(tcp), client, server, kHost, made);
    EXPECT_EQ(tls_info(*made.client->value())->resumed, connection > 0);
    // The ticket comes with the first bytes.
    co_await echo_once(*made.client->value(), *made.server->value(), "hi");
  }
}
TEST_P(TlsOnEveryLoop, TheSecondConnectionResumesTheFirst) {
  run_task(loop_, resumption(loop_));
}

Task<void> no_resumption(EventLoop& loop) {
  const ClientPointer client = client_context();
  const ServerPointer server = server_context();
  struct Step {
    TlsResumption resumption;
    bool resumed;
  };
  constexpr std::array<Step, 4> kSteps{{{TlsResumption::No, false},
                                        {TlsResumption::Yes, false},
                                        {TlsResumption::No, false},
                                        {TlsResumption::Yes, true}}};
  for (const Step& step : kSteps) {
    StreamPair tcp = co_await connected_pair(loop);
    Handshake made;
    co_await shake_hands(loop, std::move(tcp), client, server, kHost, made, 443, step.resumption);
    EXPECT_EQ(tls_info(*made.client->value())->resumed, step.resumed);
    co_await echo_once(*made.client->value(), *made.server->value(), "hi");
  }
}
TEST_P(TlsOnEveryLoop, AStrangersSessionIsNeitherKeptNorResumed) {
  run_task(loop_, no_resumption(loop_));
}

Task<void> two_ports(EventLoop& loop) {
  const ClientPointer client = client_context();
  const ServerPointer server = server_context();
  for (const std::uint16_t port : {443, 8443}) {
    StreamPair tcp = co_await connected_pair(loop);
    Handshake made;
    co_await shake_hands(loop, std::move(tcp), client, server, kHost, made, port);
    EXPECT_FALSE(tls_info(*made.client->value())->resumed) << port;
    co_await echo_once(*made.client->value(), *made.server->value(), "hi");
  }
}
TEST_P(TlsOnEveryLoop, AnotherPortOfTheHostIsAnotherServer) {
  run_task(loop_, two_ports(loop_));
}

struct Refusal {
  const char* what;
  const Certificate* certificate;
  bool trusted;
  const char* host;
  const char* message;  // empty: accepted
};
Task<void> judge(EventLoop& loop, Refusal refusal) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  const std::string ca_file = refusal.trusted ? Certificates::get().authority.certificate_file : "";
  co_await shake_hands(loop, std::move(tcp), client_context(ca_file), server_context(*refusal.certificate),
                       refusal.host, made);
  const bool accepted = *refusal.message == '\0';
  EXPECT_EQ(made.client->has_value(), accepted) << refusal.what;
  if (!accepted && !made.client->has_value()) {
    const Error& error = made.client->error();
    EXPECT_EQ(error.kind, ErrorKind::TlsFailed) << refusal.what;
    EXPECT_EQ(error.phase, AttemptPhase::NotSent) << refusal.what;
    EXPECT_NE(error.message.find(refusal.message), std::string::npos)
        << refusal.what << ": " << error.message;
    EXPECT_NE(error.message.find(refusal.host), std::string::npos) << error.message;
  }
}
TEST_P(TlsOnEveryLoop, JudgesCertificates) {
  const Certificates& all = Certificates::get();
  const Refusal table[] = {
      {"good", &all.good, true, kHost, ""},
      {"host in capitals", &all.good, true, "API.EXAMPLE.COM", ""},
      {"trailing dot", &all.good, true, "api.example.com.", ""},
      {"numeric host", &all.numeric, true, "127.0.0.1", ""},
      {"numeric host, IPv6", &all.numeric, true, "::1", ""},
      {"unknown issuer", &all.good, false, kHost, "issuer is unknown"},
      {"self-signed", &all.self_signed, true, kHost, "self-signed"},
      {"expired", &all.expired, true, kHost, "expired"},
      {"other host", &all.other_host, true, kHost, "another host"},
      {"other numeric host", &all.numeric, true, "127.0.0.2", "another host"},
      {"numeric host, name in the certificate", &all.good, true, "127.0.0.1", "another host"},
  };
  for (const Refusal& refusal : table) run_task(loop_, judge(loop_, refusal));
}

Task<void> unverified(EventLoop& loop) {
  StreamPair tcp = co_await connected_pair(loop);
  Handshake made;
  co_await shake_hands(loop, std::move(tcp), client_context("", false),
                       server_context(Certificates::get().expired), "whoever", made);
  EXPECT_TRUE(made.client->has_value());
}
TEST_P(TlsOnEveryLoop, VerificationCanBeSwitchedOff) {
  run_task(loop_, unverified(loop_));
}

}  // namespace
}  // namespace qq::net
