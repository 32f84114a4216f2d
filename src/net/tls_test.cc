#include "net/tls.h"

#include <unistd.h>

#include "net/epoll_loop.h"
#include "net/simulated_loop.h"
#include "net/test_certificates.h"
#include "net/test_support.h"
#include "net/tls_stream.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ClientPointer = std::shared_ptr<TlsClientContext>;
using ServerPointer = std::shared_ptr<TlsServerContext>;

constexpr const char* kHost = "api.example.com";

// One authority and what it signed, made once.
struct Certificates {
  Certificate authority;
  Certificate good;
  Certificate expired;
  Certificate other_host;
  Certificate numeric;
  Certificate self_signed;

  Certificates() {
    CertificateRequest request;
    request.name = "authority";
    request.authority = true;
    authority = make_certificate(request);
    request.authority = false;
    request.issuer = &authority;
    request.name = "good";
    request.alternative_names = "DNS:api.example.com";
    good = make_certificate(request);
    request.name = "expired";
    request.expires_in = -3600s;
    expired = make_certificate(request);
    request.expires_in = 1h;
    request.name = "other";
    request.alternative_names = "DNS:api.example.org,DNS:*.com,DNS:example.com";
    other_host = make_certificate(request);
    request.name = "numeric";
    request.alternative_names = "IP:127.0.0.1,IP:::1";
    numeric = make_certificate(request);
    request.name = "self";
    request.issuer = nullptr;
    request.alternative_names = "DNS:api.example.com";
    self_signed = make_certificate(request);
  }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;
  ~Certificates() {
    for (const Certificate* each : {&authority, &good, &expired, &other_host, &numeric, &self_signed}) {
      remove_files(*each);
    }
  }
  static const Certificates& get() {
    static const Certificates certificates;
    return certificates;
  }
};

ClientPointer client_context(std::string ca_file = Certificates::get().authority.certificate_file,
                             bool verify = true) {
  TlsClientOptions options;
  options.ca_file = std::move(ca_file);
  options.verify = verify;
  return TlsClientContext::make(options).value();
}

ServerPointer server_context(const Certificate& certificate = Certificates::get().good) {
  TlsServerOptions options;
  options.certificate_file = certificate.certificate_file;
  options.key_file = certificate.key_file;
  return TlsServerContext::make(options).value();
}

using Made = std::optional<Result<std::unique_ptr<Stream>>>;

Task<void> accept_into(std::unique_ptr<Stream> tcp, ServerPointer context, Scope scope, Made& made) {
  made.emplace(co_await tls_accept(std::move(tcp), std::move(context), scope));
}

struct Handshake {
  Made client;
  Made server;
};
Task<void> shake_hands(EventLoop& loop, StreamPair tcp, ClientPointer client, ServerPointer server,
                       std::string host, Handshake& result, std::uint16_t port = 443) {
  TaskGroup group;
  group.spawn(accept_into(std::move(tcp.server), std::move(server), patiently(loop), result.server));
  result.client.emplace(
      co_await tls_connect(std::move(tcp.client), std::move(client), host, port, patiently(loop)));
  co_await group.joined();
}
Task<void> echo_once(Stream& client, Stream& server, std::string text) {
  EventLoop& loop = client.loop();
  co_await write_all(client, text, patiently(loop));
  const Got asked = co_await read_until(server, text.size(), patiently(loop));
  EXPECT_EQ(asked.bytes, text);
  co_await write_all(server, asked.bytes, patiently(loop));
  const Got answered = co_await read_until(client, text.size(), patiently(loop));
  EXPECT_EQ(answered.bytes, text);
}

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

// --- what only a script can do ---

Task<void> stalled_handshake(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  const MonotonicTime start = loop.now();
  const auto made = co_await tls_connect(std::move(client), client_context(), kHost, 443, within(loop, 3s));
  EXPECT_EQ(made.error().kind, ErrorKind::ConnectTimeout);
  EXPECT_EQ(loop.now() - start, 3s);
}
TEST(Tls, AStalledHandshakeEndsAtItsDeadline) {
  SimulatedLoop loop;
  run_task(loop, stalled_handshake(loop));
}

Task<void> stalled_client(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  write_now(*client, "\x16\x03\x01");
  const MonotonicTime start = loop.now();
  const auto made = co_await tls_accept(std::move(server), server_context(), within(loop, 10s));
  EXPECT_EQ(made.error().kind, ErrorKind::RequestTimeout);
  EXPECT_EQ(made.error().origin, ErrorOrigin::Client);
  EXPECT_EQ(loop.now() - start, 10s);
}
TEST(Tls, AStalledClientIsCutAtTheDeadline) {
  SimulatedLoop loop;
  run_task(loop, stalled_client(loop));
}

Task<void> cancelled_handshake(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  Cancellation cancel(loop);
  loop.after(1s, [&] { cancel.cancel(ErrorKind::ClientGone); });
  const auto made =
      co_await tls_connect(std::move(client), client_context(), kHost, 443, until_cancelled(cancel));
  EXPECT_EQ(made.error().kind, ErrorKind::ClientGone);
}
TEST(Tls, ACancelledHandshakeSaysWhy) {
  SimulatedLoop loop;
  run_task(loop, cancelled_handshake(loop));
}

Task<void> cut_handshake(SimulatedLoop& loop, CutKind kind) {
  SimulatedNetwork network;
  network.down.cut = SimulatedCut{100, kind};
  auto [client, server] = loop.make_pair(network);
  Handshake made;
  StreamPair tcp{std::move(client), std::move(server)};
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  EXPECT_EQ(made.client->error().kind, ErrorKind::EarlyClose);
}
TEST(Tls, AConnectionCutDuringTheHandshakeIsAnEarlyClose) {
  SimulatedLoop loop;
  run_task(loop, cut_handshake(loop, CutKind::Fin));
  run_task(loop, cut_handshake(loop, CutKind::Reset));
}

Task<void> not_tls(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  write_now(*server, "HTTP/1.1 400 Bad Request\r\n\r\n");
  const auto made = co_await tls_connect(std::move(client), client_context(), kHost, 443, patiently(loop));
  EXPECT_EQ(made.error().kind, ErrorKind::TlsFailed);
  EXPECT_NE(made.error().message.find("does not speak TLS"), std::string::npos) << made.error().message;
}
TEST(Tls, AServerWithoutTlsIsToldFromABrokenOne) {
  SimulatedLoop loop;
  run_task(loop, not_tls(loop));
}

Task<void> truncated(SimulatedLoop& loop, IoStatus& status) {
  SimulatedNetwork network;
  network.down.cut = SimulatedCut{20'000, CutKind::Fin};
  auto [client, server] = loop.make_pair(network);
  Handshake made;
  StreamPair tcp{std::move(client), std::move(server)};
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  write_now(*made.server->value(), noise(60'000));
  const Got got = co_await read_to_end(*made.client->value(), patiently(loop));
  status = got.status;
  EXPECT_GT(got.bytes.size(), 0U);
}
TEST(Tls, AFinWithoutCloseNotifyIsNoOrderlyEnd) {
  SimulatedLoop loop;
  IoStatus status = IoStatus::Done;
  run_task(loop, truncated(loop, status));
  EXPECT_EQ(status, IoStatus::Failed);
}

Task<void> one_record(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  Handshake made;
  StreamPair tcp{std::move(client), std::move(server)};
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  std::vector<std::string> texts;
  std::string joined;
  for (int i = 0; i < 20; ++i) texts.push_back(noise(500, static_cast<std::uint32_t>(i)));
  std::vector<iovec> pieces;
  for (std::string& text : texts) {
    pieces.push_back({text.data(), text.size()});
    joined += text;
  }
  const std::uint64_t before = loop.io_calls();
  EXPECT_EQ(made.server->value()->try_write(pieces).bytes, joined.size());
  EXPECT_EQ(loop.io_calls() - before, 1U);
  const Got got = co_await read_until(*made.client->value(), joined.size(), patiently(loop));
  EXPECT_TRUE(got.bytes == joined);
}
TEST(Tls, SmallPiecesBecomeOneRecordAndOneWrite) {
  SimulatedLoop loop;
  run_task(loop, one_record(loop));
}

Task<void> mixed_pieces(SimulatedLoop& loop) {
  SimulatedNetwork network;
  network.up.window = 3'000;
  auto [client, server] = loop.make_pair(network);
  Handshake made;
  StreamPair tcp{std::move(client), std::move(server)};
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  // Sizes around a record's, offered again and again while the window is small.
  std::string all;
  std::vector<std::size_t> sizes = {1, 16'384, 0, 16'383, 2, 40'000, 7, 7, 16'385, 100};
  for (const std::size_t size : sizes) all += noise(size, static_cast<std::uint32_t>(size));
  std::size_t sent = 0;
  std::string received;
  while (received.size() < all.size()) {
    std::vector<iovec> pieces;
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
      const std::size_t end = begin + size;
      if (end > sent) {
        const std::size_t from = std::max(begin, sent);
        pieces.push_back({all.data() + from, end - from});
      }
      begin = end;
    }
    if (!pieces.empty()) sent += made.client->value()->try_write(pieces).bytes;
    const Got got = co_await read_until(*made.server->value(), 1'000, within(loop, 1ms));
    received += got.bytes;
  }
  EXPECT_TRUE(received == all);
}
TEST(Tls, PiecesOfAllSizesStayExactUnderBackPressure) {
  SimulatedLoop loop;
  run_task(loop, mixed_pieces(loop));
}

Task<void> converse(SimulatedLoop& loop, bool& answered) {
  auto [client, server] = loop.make_pair();
  Handshake made;
  StreamPair tcp{std::move(client), std::move(server)};
  co_await shake_hands(loop, std::move(tcp), client_context(), server_context(), kHost, made);
  if (!made.client->has_value() || !made.server->has_value()) co_return;
  const Scope scope = within(loop, 1s);
  co_await write_all(*made.client->value(), "ask", scope);
  const Got asked = co_await read_until(*made.server->value(), 3, scope);
  co_await write_all(*made.server->value(), "answer", scope);
  made.server->value().reset();
  const Got got = co_await read_to_end(*made.client->value(), scope);
  answered = asked.bytes == "ask" && got.bytes == "answer" && got.status == IoStatus::Closed;
}
TEST(Tls, EveryIoCallMayFailOnceWithoutHarm) {
  std::uint64_t calls = 0;
  {
    SimulatedLoop loop;
    bool answered = false;
    run_task(loop, converse(loop, answered));
    EXPECT_TRUE(answered);
    calls = loop.io_calls();
  }
  int unanswered = 0;
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SimulatedLoop loop;
    loop.fail_io_call(n);
    bool answered = false;
    run_task(loop, converse(loop, answered));
    EXPECT_EQ(loop.open_streams(), 0U) << "call " << n;
    unanswered += answered ? 0 : 1;
  }
  EXPECT_GE(unanswered, 8) << "only failures behind the answer may go unnoticed";
}

Task<void> old_version(SimulatedLoop& loop) {
  auto [client, server] = loop.make_pair();
  const Certificate& good = Certificates::get().good;
  SslContextPointer old(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_security_level(old.get(), 0);
  SSL_CTX_set_min_proto_version(old.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_1_VERSION);
  SslPointer ssl(SSL_new(old.get()));
  SSL_set_connect_state(ssl.get());
  TlsStream stream(std::move(client), std::move(ssl), nullptr);
  TaskGroup group;
  Made accepted;
  group.spawn(accept_into(std::move(server), server_context(good), patiently(loop), accepted));
  const auto failure = co_await stream.handshake(patiently(loop));
  EXPECT_TRUE(failure.has_value());
  co_await group.joined();
  EXPECT_EQ(accepted->error().kind, ErrorKind::TlsFailed);
}
TEST(Tls, VersionsBefore12AreRefused) {
  SimulatedLoop loop;
  run_task(loop, old_version(loop));
}

TEST(Tls, FilesThatCannotBeUsedAreConfigurationErrors) {
  const Certificates& all = Certificates::get();
  TlsClientOptions client;
  client.ca_file = "/nonexistent/ca.pem";
  EXPECT_EQ(TlsClientContext::make(client).error().kind, ErrorKind::Config);
  TlsServerOptions server;
  server.certificate_file = "/nonexistent/server.crt";
  server.key_file = all.good.key_file;
  EXPECT_EQ(TlsServerContext::make(server).error().kind, ErrorKind::Config);
  server.certificate_file = all.good.certificate_file;
  server.key_file = all.expired.key_file;
  const auto mismatched = TlsServerContext::make(server);
  ASSERT_FALSE(mismatched.has_value());
  EXPECT_NE(mismatched.error().message.find(all.expired.key_file), std::string::npos);
}

TEST(Tls, APlainStreamHasNoTlsInfo) {
  SimulatedLoop loop;
  const auto [client, server] = loop.make_pair();
  EXPECT_FALSE(tls_info(*client).has_value());
}

}  // namespace
}  // namespace qq::net
