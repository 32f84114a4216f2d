#include "net/simulated_loop.h"

#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class SimulatedLoopTest : public ::testing::Test {
 protected:
  SimulatedLoop loop_;
};

Task<void> let_pass(EventLoop& loop, std::chrono::nanoseconds time) {
  const Scope scope{loop.now() + time, nullptr};
  EXPECT_EQ(co_await time_passes(loop, scope), Wake::Deadline);
}

TEST_F(SimulatedLoopTest, AnHourPassesAtOnceAndToTheNanosecond) {
  const MonotonicTime start = loop_.now();
  const WallTime wall = loop_.wall_now();
  run_task(loop_, let_pass(loop_, 1h + 1ns));
  EXPECT_EQ(loop_.now() - start, 1h + 1ns);
  EXPECT_EQ(loop_.wall_now() - wall, 1h + 1ns);
}

TEST_F(SimulatedLoopTest, RunReturnsWhenThereIsNothingLeftToDo) {
  int called = 0;
  loop_.after(1s, [&] { ++called; });
  loop_.run();
  EXPECT_EQ(called, 1);
}

TEST_F(SimulatedLoopTest, RunForStopsTheTimeWhereAsked) {
  int called = 0;
  loop_.after(2s, [&] { ++called; });
  const MonotonicTime start = loop_.now();
  loop_.run_for(1s);
  EXPECT_EQ(called, 0);
  EXPECT_EQ(loop_.now() - start, 1s);
  loop_.run_for(1s);
  EXPECT_EQ(called, 1);
}

Task<void> latency(SimulatedLoop& loop) {
  SimulatedNetwork network;
  network.up.latency = 30ms;
  auto [client, server] = loop.make_pair(network);
  const MonotonicTime start = loop.now();
  write_now(*client, "x");
  client->shutdown_write();
  const Got got = co_await read_to_end(*server, patiently(loop));
  EXPECT_EQ(got.bytes, "x");
  EXPECT_EQ(loop.now() - start, 30ms);
}
TEST_F(SimulatedLoopTest, BytesArriveAfterTheLatency) {
  run_task(loop_, latency(loop_));
}

Task<void> arrivals(SimulatedLoop& loop, Split split, std::string bytes, std::vector<std::string>& reads) {
  SimulatedNetwork network;
  network.down.split = split;
  auto [client, server] = loop.make_pair(network);
  write_now(*server, bytes);
  server.reset();
  for (;;) {
    EXPECT_EQ(co_await client->readable(patiently(loop)), Wake::Ready);
    const std::span<char> scratch = loop.scratch();
    const IoTry got = client->try_read(scratch);
    if (got.status == IoStatus::WouldBlock) continue;
    if (got.status != IoStatus::Done) break;
    reads.emplace_back(scratch.data(), got.bytes);
  }
}
TEST_F(SimulatedLoopTest, SplitsGiveOneReadAnArrival) {
  using Reads = std::vector<std::string>;
  const struct {
    Split split;
    Reads reads;
  } cases[] = {{Split::whole(), {"abcde"}},         {Split::each(1), {"a", "b", "c", "d", "e"}},
               {Split::each(2), {"ab", "cd", "e"}}, {Split::at(0), {"abcde"}},
               {Split::at(3), {"abc", "de"}},       {Split::at(5), {"abcde"}}};
  for (const auto& [split, expected] : cases) {
    Reads reads;
    run_task(loop_, arrivals(loop_, split, "abcde", reads));
    EXPECT_EQ(reads, expected);
  }
}

TEST_F(SimulatedLoopTest, RandomSplitsRepeatWithTheirSeedAndLoseNothing) {
  const std::string bytes = noise(10'000);
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::vector<std::string> other;
  run_task(loop_, arrivals(loop_, Split::random(7, 100), bytes, first));
  run_task(loop_, arrivals(loop_, Split::random(7, 100), bytes, second));
  run_task(loop_, arrivals(loop_, Split::random(8, 100), bytes, other));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  std::string joined;
  for (const std::string& read : other) joined += read;
  EXPECT_TRUE(joined == bytes);
}

Task<void> short_writes(SimulatedLoop& loop) {
  SimulatedNetwork network;
  network.up.write_limit = 3;
  auto [client, server] = loop.make_pair(network);
  EXPECT_EQ(write_now(*client, "12345678").bytes, 3U);
  const Written written = co_await write_all(*client, "45678", patiently(loop));
  EXPECT_EQ(written.bytes, 5U);
  const Got got = co_await read_until(*server, 8, patiently(loop));
  EXPECT_EQ(got.bytes, "12345678");
}
TEST_F(SimulatedLoopTest, WriteLimitMakesShortWrites) {
  run_task(loop_, short_writes(loop_));
}

Task<void> cut(SimulatedLoop& loop, SimulatedCut where, Got& got) {
  SimulatedNetwork network;
  network.down.cut = where;
  network.down.latency = 1ms;
  auto [client, server] = loop.make_pair(network);
  write_now(*server, "0123");
  write_now(*server, "456789");
  got = co_await read_to_end(*client, within(loop, 1min));
}
TEST_F(SimulatedLoopTest, CutsEndADirectionAfterExactlySoManyBytes) {
  for (std::size_t at = 0; at <= 10; ++at) {
    const std::string before = std::string("0123456789").substr(0, at);
    Got got;
    run_task(loop_, cut(loop_, SimulatedCut{at, CutKind::Fin}, got));
    EXPECT_EQ(got.bytes, before);
    EXPECT_EQ(got.status, IoStatus::Closed);
    run_task(loop_, cut(loop_, SimulatedCut{at, CutKind::Reset}, got));
    EXPECT_EQ(got.bytes, before) << "what arrived before the reset can be read";
    EXPECT_EQ(got.status, IoStatus::Failed);
    EXPECT_EQ(got.error, ECONNRESET);
    run_task(loop_, cut(loop_, SimulatedCut{at, CutKind::Stall}, got));
    EXPECT_EQ(got.bytes, before);
    EXPECT_EQ(got.wake, Wake::Deadline);
  }
}

Task<void> scripted_connects(SimulatedLoop& loop) {
  const Address address = Address::parse("203.0.113.7:443").value();
  ListenOptions options;
  options.address = address;
  auto listener = loop.listen(options, [](AcceptedSocket) {});
  loop.next_connect(address, ConnectScript{ConnectOutcome::Refuse, 5ms});
  loop.next_connect(address, ConnectScript{ConnectOutcome::BlackHole, {}});
  loop.set_connect(address, ConnectScript{ConnectOutcome::Accept, 7ms});

  MonotonicTime start = loop.now();
  const auto refused = co_await loop.connect(address, patiently(loop));
  EXPECT_EQ(refused.error().kind, ErrorKind::ConnectFailed);
  EXPECT_EQ(loop.now() - start, 5ms);

  start = loop.now();
  const auto black_hole = co_await loop.connect(address, within(loop, 3s));
  EXPECT_EQ(black_hole.error().kind, ErrorKind::ConnectTimeout);
  EXPECT_EQ(loop.now() - start, 3s);

  start = loop.now();
  const auto accepted = co_await loop.connect(address, patiently(loop));
  EXPECT_TRUE(accepted.has_value());
  EXPECT_EQ(loop.now() - start, 7ms);
  EXPECT_EQ(loop.connects(), 3U);
}
TEST_F(SimulatedLoopTest, ConnectOutcomesFollowTheScript) {
  run_task(loop_, scripted_connects(loop_));
}

Task<void> cancelled_connect(SimulatedLoop& loop) {
  const Address address = Address::parse("203.0.113.7:443").value();
  loop.set_connect(address, ConnectScript{ConnectOutcome::BlackHole, {}});
  Cancellation cancel(loop);
  loop.after(1s, [&] { cancel.cancel(ErrorKind::ClientGone); });
  const auto stream = co_await loop.connect(address, until_cancelled(cancel));
  EXPECT_EQ(stream.error().kind, ErrorKind::ClientGone);
}
TEST_F(SimulatedLoopTest, ACancelledConnectSaysWhy) {
  run_task(loop_, cancelled_connect(loop_));
}

Task<void> names(SimulatedLoop& loop) {
  loop.set_name("api.example.com", {"203.0.113.7", "2001:db8::7"}, 10ms);
  loop.fail_name("gone.example.com", 20ms);
  MonotonicTime start = loop.now();
  const auto found = co_await loop.resolve("api.example.com", 443, patiently(loop));
  EXPECT_EQ(found.value().size(), 2U);
  EXPECT_EQ(found.value().back().text(), "[2001:db8::7]:443");
  EXPECT_EQ(loop.now() - start, 10ms);
  start = loop.now();
  const auto gone = co_await loop.resolve("gone.example.com", 443, patiently(loop));
  EXPECT_EQ(gone.error().kind, ErrorKind::DnsFailed);
  EXPECT_EQ(loop.now() - start, 20ms);
  const auto unknown = co_await loop.resolve("unknown.example.com", 443, patiently(loop));
  EXPECT_EQ(unknown.error().kind, ErrorKind::DnsFailed);
}
TEST_F(SimulatedLoopTest, NamesFollowTheScript) {
  run_task(loop_, names(loop_));
}

// A conversation in which every I/O call is made to fail once.
Task<void> serve_one(EventLoop& loop, std::unique_ptr<Stream> stream) {
  const Got asked = co_await read_until(*stream, 3, patiently(loop));
  if (asked.bytes == "ask") co_await write_all(*stream, "answer", patiently(loop));
}
Task<void> converse(SimulatedLoop& loop, TaskGroup& serving, bool& answered) {
  loop.set_name("server", {"127.0.0.1"});
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener = loop.listen(
      options, [&](AcceptedSocket socket) { serving.spawn(serve_one(loop, loop.adopt(std::move(socket)))); });
  {
    const auto addresses = co_await loop.resolve("server", listener.value()->local().port(), patiently(loop));
    if (!addresses) co_return;
    auto stream = co_await loop.connect(addresses->front(), patiently(loop));
    if (!stream) co_return;
    co_await write_all(**stream, "ask", patiently(loop));
    const Got got = co_await read_to_end(**stream, patiently(loop));
    answered = got.status == IoStatus::Closed && got.bytes == "answer";
  }
  co_await serving.joined();
}
TEST_F(SimulatedLoopTest, EveryIoCallCanBeMadeToFailOnceAndEveryoneNotices) {
  std::uint64_t calls = 0;
  {
    TaskGroup serving;
    bool answered = false;
    run_task(loop_, converse(loop_, serving, answered));
    EXPECT_TRUE(answered);
    calls = loop_.io_calls();
  }
  EXPECT_GE(calls, 6U);
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SimulatedLoop loop;
    TaskGroup serving;
    bool answered = false;
    loop.fail_io_call(n);
    run_task(loop, converse(loop, serving, answered));
    EXPECT_FALSE(answered) << "call " << n;
    EXPECT_EQ(loop.open_streams(), 0U) << "call " << n;
  }
}

Task<void> shared_listener(SimulatedLoop& loop) {
  int first = 0;
  int second = 0;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener = loop.listen(options, [&](AcceptedSocket) { ++first; });
  auto sharing = loop.share(**listener, [&](AcceptedSocket) { ++second; });
  const Address address = listener.value()->local();
  EXPECT_EQ(sharing.value()->local(), address);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE((co_await loop.connect(address, patiently(loop))).has_value());
  EXPECT_EQ(first, 5);
  EXPECT_EQ(second, 5);
  listener.value().reset();
  EXPECT_TRUE((co_await loop.connect(address, patiently(loop))).has_value());
  EXPECT_EQ(second, 6) << "the other one still listens";
}
TEST_F(SimulatedLoopTest, SharedListenersTakeTurns) {
  run_task(loop_, shared_listener(loop_));
}

Task<void> window(SimulatedLoop& loop) {
  SimulatedNetwork network;
  network.up.window = 10;
  auto [client, server] = loop.make_pair(network);
  EXPECT_EQ(write_now(*client, "0123456789abc").bytes, 10U);
  EXPECT_EQ(write_now(*client, "abc").status, IoStatus::WouldBlock);
  const Got got = co_await read_until(*server, 10, patiently(loop));
  EXPECT_EQ(got.bytes, "0123456789");
  EXPECT_EQ(co_await client->writable(patiently(loop)), Wake::Ready);
  EXPECT_EQ(write_now(*client, "abc").bytes, 3U);
}
TEST_F(SimulatedLoopTest, TheWindowMakesTheWriterWait) {
  run_task(loop_, window(loop_));
}

Task<void> write_to_closed(SimulatedLoop& loop) {
  SimulatedNetwork network;
  network.up.latency = network.down.latency = 10ms;
  auto [client, server] = loop.make_pair(network);
  server.reset();
  EXPECT_EQ(write_now(*client, "anyone?").status, IoStatus::Done) << "the reset has not come yet";
  co_await let_pass(loop, 21ms);
  EXPECT_EQ(write_now(*client, "hello?").status, IoStatus::Failed);
}
TEST_F(SimulatedLoopTest, WritingToAClosedEndIsAnsweredByAReset) {
  run_task(loop_, write_to_closed(loop_));
}

}  // namespace
}  // namespace qq::net
