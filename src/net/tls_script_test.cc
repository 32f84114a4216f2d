// TLS with what only a script can do: stalls, cuts, peers that break the rules, calls that fail.
#include "net/simulated_loop.h"
#include "net/tls.h"
#include "net/tls_stream.h"
#include "net/tls_test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

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
