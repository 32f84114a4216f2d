// The server on both loops: simulated for exact times, epoll for what needs a kernel.
#include "simulator/provider/provider_simulator.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "net/epoll_loop.h"
#include "net/simulated_loop.h"
#include "net/test_certificates.h"
#include "net/test_support.h"
#include "simulator/provider/test_support.h"

namespace qq::simulator {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string post(std::string_view model, std::string_view more_body = {}, std::string_view more_head = {},
                 std::string_view path = "/v1/chat/completions") {
  const std::string body = chat_body(model, more_body);
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: sim\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
      path, body.size(), more_head, body);
}
std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: sim\r\n\r\n", path);
}

constexpr std::string_view kStreamed = ",\"stream\":true";

// What one connection saw.
struct Seen {
  std::string bytes;
  net::IoStatus status = net::IoStatus::WouldBlock;  // Closed or Failed when the server ended it
  net::Wake wake = net::Wake::Ready;
  std::chrono::nanoseconds took{0};
};

// Sends `request` on a new connection and reads for `time` or to the end.
Task<Seen> exchange(net::EventLoop& loop, net::Address address, std::string request,
                    std::chrono::milliseconds time) {
  Seen seen;
  auto connected = co_await loop.connect(address, net::testing::patiently(loop));
  if (!connected) {
    seen.status = net::IoStatus::Failed;  // a reset may come before connect has looked
    co_return seen;
  }
  const std::unique_ptr<net::Stream> stream = std::move(connected).value();
  const MonotonicTime start = loop.now();
  co_await net::testing::write_all(*stream, request, net::testing::patiently(loop));
  net::testing::Got got = co_await net::testing::read_to_end(*stream, net::testing::within(loop, time));
  seen.bytes = std::move(got.bytes);
  seen.status = got.status;
  seen.wake = got.wake;
  seen.took = loop.now() - start;
  co_return seen;
}

template <typename Loop>
class Bench {
 public:
  explicit Bench(SimulatorOptions options = {}) : simulator(loop, std::move(options)) {
    EXPECT_TRUE(simulator.listen(net::Address::parse("127.0.0.1:0").value()));
  }

  Seen ask(std::string request, std::chrono::milliseconds time = 300ms) {
    Seen seen;
    run(store(exchange(loop, simulator.local(), std::move(request), time), &seen));
    return seen;
  }
  void run(Task<void> body) { net::testing::run_task(loop, std::move(body)); }
  ~Bench() { run(simulator.shut_down()); }

  Loop loop;
  ProviderSimulator simulator;

 private:
  static Task<void> store(Task<Seen> task, Seen* out) { *out = co_await std::move(task); }
};

using Simulated = Bench<net::SimulatedLoop>;
using Real = Bench<net::EpollLoop>;

TEST(ProviderSimulator, AnswersOverBothLoopsWithTheSameBytes) {
  Simulated simulated;
  Real real;
  const Seen a = simulated.ask(post("sim-gpt"));
  const Seen b = real.ask(post("sim-gpt"));
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_TRUE(read_reply(a.bytes)->framed);
  EXPECT_EQ(a.wake, net::Wake::Deadline) << "the connection stays";
}

std::string post_messages(std::string_view more_head) {
  const std::string body =
      R"({"model":"sim-claude","max_tokens":99,"messages":[{"role":"user","content":"Say hello."}]})";
  return fmt::format("POST /v1/messages HTTP/1.1\r\nHost: sim\r\nContent-Length: {}\r\n{}\r\n{}", body.size(),
                     more_head, body);
}

TEST(ProviderSimulator, JudgesHeadersAndQueriesUnlessItIsLenient) {
  Simulated bench;
  constexpr std::string_view kHead = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n";
  EXPECT_THAT(bench.ask(post_messages(kHead)).bytes, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(bench.ask(post_messages("")).bytes, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(bench.ask(get("/v1beta/models")).bytes, StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(bench.ask(get("/v1beta/models?key=k")).bytes, StartsWith("HTTP/1.1 200"));
  SimulatorOptions lenient;
  lenient.strict = false;
  Simulated other(std::move(lenient));
  EXPECT_THAT(other.ask(post_messages("")).bytes, StartsWith("HTTP/1.1 200"));
}

TEST(ProviderSimulator, AScenarioKnowsTheCredentialsOfAllDialects) {
  SimulatorOptions options;
  options.scenario = Scenario::parse(R"({"rules":[{"key":"bad","do":{"fault":"402"}}]})").value();
  Simulated bench(std::move(options));
  EXPECT_THAT(bench.ask(post_messages("x-api-key: bad\r\n")).bytes, StartsWith("HTTP/1.1 402"));
  EXPECT_THAT(bench.ask(get("/v1beta/models?key=bad")).bytes, StartsWith("HTTP/1.1 402"));
  EXPECT_THAT(
      bench
          .ask(post_messages("authorization: AWS4-HMAC-SHA256 Credential=bad/20260101/r/s/aws4_request, "
                             "SignedHeaders=host, Signature=0\r\n"))
          .bytes,
      StartsWith("HTTP/1.1 402"));
}

TEST(ProviderSimulator, ServesPipelinedRequestsInOrder) {
  Simulated bench;
  const Seen seen = bench.ask(get("/v1/models/sim-a") + get("/v1/models/sim-b"));
  const auto first = read_reply(seen.bytes);
  EXPECT_THAT(first->body, HasSubstr("sim-a"));
  EXPECT_THAT(read_reply(first->rest)->body, HasSubstr("sim-b"));
}

TEST(ProviderSimulator, PacesAStreamToTheMillisecond) {
  Simulated bench;
  const Seen seen =
      bench.ask(post("sim-gpt+delay=7+ttft=100+gap=20+words=3", kStreamed, "Connection: close\r\n"), 10s);
  EXPECT_TRUE(read_reply(seen.bytes)->framed);
  // Three words, finish and [DONE] are four gaps.
  EXPECT_EQ(seen.took, 7ms + 100ms + 4 * 20ms);
}

TEST(ProviderSimulator, DripsAtTheAskedRate) {
  Simulated bench;
  const Seen seen = bench.ask(post("sim-gpt+rate=1000", {}, "Connection: close\r\n"), 60s);
  EXPECT_TRUE(read_reply(seen.bytes)->framed);
  EXPECT_NEAR(static_cast<double>(seen.took / 1ms), static_cast<double>(seen.bytes.size()), 60.0);
}

TEST(ProviderSimulator, WritesByteByByteWithoutChangingABit) {
  Real bench;
  const Seen whole = bench.ask(post("sim-gpt", kStreamed, "Connection: close\r\n"));
  const Seen split = bench.ask(post("sim-gpt+split=1", kStreamed, "Connection: close\r\n"));
  EXPECT_EQ(split.bytes, whole.bytes);
}

TEST(ProviderSimulator, ClosesResetsAndStallsBeforeTheHead) {
  Real bench;
  EXPECT_EQ(bench.ask(post("sim-gpt+close_before_head")).status, net::IoStatus::Closed);
  EXPECT_EQ(bench.ask(post("sim-gpt+reset_before_head")).status, net::IoStatus::Failed);
  const Seen stalled = bench.ask(post("sim-gpt+stall_before_head"), 50ms);
  EXPECT_EQ(stalled.bytes, "");
  EXPECT_EQ(stalled.wake, net::Wake::Deadline);
}

TEST(ProviderSimulator, CutsAStreamInTheMiddleWithAFinOrAReset) {
  for (const char* fault : {"close_mid_body", "reset_mid_body"}) {
    Real bench;
    const Seen seen = bench.ask(post(fmt::format("sim-gpt+{}+at=3+gap=5", fault), kStreamed));
    EXPECT_EQ(events_of(read_reply(seen.bytes)->body).size(), 3U);
    EXPECT_EQ(seen.status,
              std::string_view(fault).starts_with("close") ? net::IoStatus::Closed : net::IoStatus::Failed);
  }
}

TEST(ProviderSimulator, SaysKeepAliveAndCloses) {
  Real bench;
  const Seen seen = bench.ask(post("sim-gpt+keep_alive_lie"));
  EXPECT_THAT(seen.bytes, HasSubstr("connection: keep-alive\r\n"));
  EXPECT_EQ(seen.status, net::IoStatus::Closed);
}

TEST(ProviderSimulator, ClosesAReusedConnectionWithoutAWord) {
  Real bench;
  const Seen seen = bench.ask(post("sim-gpt+close_on_reuse") + post("sim-gpt"));
  const auto first = read_reply(seen.bytes);
  EXPECT_TRUE(first->framed);
  EXPECT_EQ(first->rest, "");
  EXPECT_NE(seen.status, net::IoStatus::WouldBlock);
}

TEST(ProviderSimulator, RepliesBeforeTheBodyIsRead) {
  Simulated bench;
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: 100000\r\nx-sim-scenario: "
      "early_reply\r\n\r\n{";
  const Seen seen = bench.ask(head, 5s);
  EXPECT_EQ(read_reply(seen.bytes)->head.status, 413);
}

TEST(ProviderSimulator, InvitesABodyThatWaitsFor100Continue) {
  Simulated bench;
  const Seen seen = bench.ask(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nExpect: 100-continue\r\nContent-Length: "
      "2\r\n\r\n{}");
  EXPECT_THAT(seen.bytes, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 "));
}

TEST(ProviderSimulator, TakesDirectivesFromHeaderPathAndModelInThatOrder) {
  Simulated bench;
  const auto status = [&](std::string_view model, std::string_view head, std::string_view path) {
    return read_reply(bench.ask(post(model, {}, head, path)).bytes)->head.status;
  };
  EXPECT_EQ(status("sim-gpt", "x-sim-scenario: fault=503\r\n", "/v1/chat/completions"), 503);
  EXPECT_EQ(status("sim-gpt", "", "/+fault=502/v1/chat/completions"), 502);
  EXPECT_EQ(status("sim-gpt", "x-sim-scenario: fault=503\r\n", "/+fault=502/v1/chat/completions"), 503);
  EXPECT_EQ(status("sim-gpt+fault=500", "x-sim-scenario: fault=503\r\n", "/+fault=502/v1/chat/completions"),
            500);
  EXPECT_EQ(status("sim-gpt+fault=nonsense", "", "/v1/chat/completions"), 400);
}

TEST(ProviderSimulator, FollowsItsScenarioAndANewOne) {
  SimulatorOptions options;
  options.scenario =
      Scenario::parse(R"({"rules":[{"attempts":[{"fault":"429","retry_after":"1"}]}]})").value();
  Simulated bench(std::move(options));
  const auto status = [&] { return read_reply(bench.ask(post("sim-gpt")).bytes)->head.status; };
  EXPECT_EQ(status(), 429);
  EXPECT_EQ(status(), 200);
  const std::string scenario = R"({"rules":[{"do":{"fault":"500"}}]})";
  bench.ask(fmt::format("POST /sim/scenario HTTP/1.1\r\nHost: sim\r\nContent-Length: {}\r\n\r\n{}",
                        scenario.size(), scenario));
  EXPECT_EQ(status(), 500);
}

TEST(ProviderSimulator, ObeysOrdersForConnections) {
  SimulatorOptions options;
  options.scenario = Scenario::parse(R"({"connections":["close","reset","stall"]})").value();
  Real bench(std::move(options));
  EXPECT_NE(bench.ask(post("sim-gpt")).status, net::IoStatus::WouldBlock);
  EXPECT_EQ(bench.ask(post("sim-gpt")).status, net::IoStatus::Failed);
  EXPECT_EQ(bench.ask(post("sim-gpt"), 50ms).wake, net::Wake::Deadline);
  EXPECT_TRUE(read_reply(bench.ask(post("sim-gpt")).bytes)->framed);
}

Task<void> stop_reading_after_the_head(net::EventLoop& loop, ProviderSimulator& simulator) {
  auto connected = co_await loop.connect(simulator.local(), net::testing::patiently(loop));
  const std::unique_ptr<net::Stream> stream = std::move(connected).value();
  const std::string request = post("sim-gpt+gap=50+words=1000", kStreamed);
  co_await net::testing::write_all(*stream, request, net::testing::patiently(loop));
  co_await net::testing::read_until(*stream, 20, net::testing::patiently(loop));
  EXPECT_EQ(simulator.statistics().in_flight(), 1U);
  EXPECT_EQ(simulator.statistics().live_connections(), 1U);
}

Task<void> wait_until_idle(net::EventLoop& loop, ProviderSimulator& simulator) {
  const MonotonicTime limit = loop.now() + 2s;
  net::Signal never(loop);
  while (simulator.statistics().live_connections() > 0 && loop.now() < limit) {
    static_cast<void>(co_await never.wait(net::testing::within(loop, 5ms)));
  }
}

TEST(ProviderSimulator, CountsAStreamThatItsClientLeft) {
  Real bench;
  bench.run(stop_reading_after_the_head(bench.loop, bench.simulator));
  bench.run(wait_until_idle(bench.loop, bench.simulator));
  EXPECT_EQ(bench.simulator.statistics().live_connections(), 0U);
  EXPECT_EQ(bench.simulator.statistics().in_flight(), 0U);
  EXPECT_EQ(bench.simulator.statistics().aborted(), 1U);
  ASSERT_EQ(bench.simulator.statistics().requests().size(), 1U);
  EXPECT_EQ(bench.simulator.statistics().requests()[0].end, ExchangeEnd::Aborted);
}

TEST(ProviderSimulator, ShowsTheRequestsThatCame) {
  Simulated bench;
  bench.ask(post("sim-gpt", {}, "Authorization: Bearer sk-test\r\n"));
  const auto& seen = bench.simulator.statistics().requests();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_THAT(seen[0].head, HasSubstr("Authorization: Bearer sk-test\r\n"));
  EXPECT_EQ(seen[0].body, chat_body("sim-gpt"));
  EXPECT_EQ(seen[0].body_sha256.size(), 64U);
  EXPECT_EQ(seen[0].reply, "chat");
  EXPECT_EQ(seen[0].end, ExchangeEnd::Complete);
  const auto page = read_reply(bench.ask(get("/sim/requests")).bytes);
  EXPECT_FALSE(wire::check_json(page->body));
  EXPECT_THAT(page->body, HasSubstr(R"("model":"sim-gpt")"));
}

TEST(ProviderSimulator, ItsOwnPagesDoNotCountThemselves) {
  Simulated bench;
  bench.ask(post("sim-gpt"));
  const auto stats = read_reply(bench.ask(get("/sim/stats")).bytes);
  EXPECT_EQ(wire::JsonValue(stats->body).at("connections", "accepted")->integer(), 1);
  EXPECT_EQ(wire::JsonValue(stats->body).at("requests", "total")->integer(), 1);
  bench.ask("POST /sim/reset HTTP/1.1\r\nHost: sim\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(bench.simulator.statistics().total(), 0U);
  EXPECT_EQ(read_reply(bench.ask(get("/sim/nothing")).bytes)->head.status, 404);
}

TEST(ProviderSimulator, AConnectionThatAskedForAPageStillFollowsTheScenario) {
  SimulatorOptions options;
  options.scenario = Scenario::parse(R"({"rules":[{"do":{"fault":"503"}}]})").value();
  Simulated bench(std::move(options));
  const auto page = read_reply(bench.ask(get("/sim/stats") + post("sim-gpt")).bytes);
  EXPECT_EQ(read_reply(page->rest)->head.status, 503);
}

Task<void> ask_over_tls(net::EventLoop& loop, net::Address address,
                        std::shared_ptr<net::TlsClientContext> context, std::string* bytes) {
  auto connected = co_await loop.connect(address, net::testing::patiently(loop));
  auto secured = co_await net::tls_connect(std::move(connected).value(), std::move(context), "localhost", 443,
                                           net::testing::patiently(loop));
  const std::unique_ptr<net::Stream> stream = std::move(secured).value();
  const std::string request = post("sim-gpt", {}, "Connection: close\r\n");
  co_await net::testing::write_all(*stream, request, net::testing::patiently(loop));
  *bytes = (co_await net::testing::read_to_end(*stream, net::testing::patiently(loop))).bytes;
}

TEST(ProviderSimulator, SpeaksTlsWhenGivenACertificate) {
  net::testing::CertificateRequest request;
  const net::testing::Certificate certificate = net::testing::make_certificate(request);
  net::TlsServerOptions server;
  server.certificate_file = certificate.certificate_file;
  server.key_file = certificate.key_file;
  SimulatorOptions options;
  options.tls = net::TlsServerContext::make(server).value();
  Real bench(std::move(options));
  net::TlsClientOptions client;
  client.verify = false;
  std::string bytes;
  bench.run(
      ask_over_tls(bench.loop, bench.simulator.local(), net::TlsClientContext::make(client).value(), &bytes));
  EXPECT_TRUE(read_reply(bytes)->framed);
  net::testing::remove_files(certificate);
}

Task<void> connects(net::EventLoop& loop, net::Address address, bool* done) {
  const auto connected = co_await loop.connect(address, net::testing::patiently(loop));
  *done = connected.has_value();
}

TEST(ProviderSimulator, ItsSecondPortRefusesWhileItIsClosed) {
  Real bench;
  ASSERT_TRUE(bench.simulator.listen_extra(net::Address::parse("127.0.0.1:0").value()));
  const net::Address extra = bench.simulator.extra_local();
  const auto open = [&] {
    bool done = false;
    bench.run(connects(bench.loop, extra, &done));
    return done;
  };
  EXPECT_TRUE(open());
  bench.ask("POST /sim/listener?open=false HTTP/1.1\r\nHost: sim\r\nContent-Length: 0\r\n\r\n");
  EXPECT_FALSE(open());
  bench.ask("POST /sim/listener?open=true HTTP/1.1\r\nHost: sim\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(open());
}

TEST(ProviderSimulator, RefusesBrokenFramingAndGoesOnServing) {
  Simulated bench;
  const Seen seen =
      bench.ask("POST / HTTP/1.1\r\nHost: sim\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(read_reply(seen.bytes)->head.status, 400);
  EXPECT_EQ(seen.status, net::IoStatus::Closed);
  EXPECT_EQ(read_reply(bench.ask(post("sim-gpt")).bytes)->head.status, 200);
}

TEST(ProviderSimulator, ABodyAboveTheLimitIsA413) {
  SimulatorOptions options;
  options.request_body_max = 100;
  Simulated bench(std::move(options));
  const Seen seen = bench.ask(post("sim-gpt", ",\"pad\":\"" + std::string(200, 'x') + "\""));
  EXPECT_EQ(read_reply(seen.bytes)->head.status, 413);
}

TEST(ProviderSimulator, AnswersAnHttp10Client) {
  Simulated bench;
  const Seen seen = bench.ask("GET /v1/models HTTP/1.0\r\n\r\n", 5s);
  EXPECT_EQ(seen.status, net::IoStatus::Closed);
  EXPECT_THAT(read_reply(seen.bytes)->body, HasSubstr("sim-gpt"));
}

}  // namespace
}  // namespace qq::simulator
