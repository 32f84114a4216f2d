#include "net/held_sends.h"

#include "net/epoll_loop.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace testing;

class HeldSendsOfALoop : public ::testing::Test {
 protected:
  void run(Task<void> body) { run_task(loop_, std::move(body)); }
  EpollLoop loop_;
};

// Whether the peer's socket has bytes; the stream itself learns of them in the next turn only.
bool arrived(EpollLoop& loop, Stream& stream) {
  loop.poller().dispatch(loop.poller().wait(std::chrono::nanoseconds{0}));
  return stream.maybe_readable();
}

Task<void> small_write(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  co_await Bounce{loop};
  EXPECT_EQ(write_now(*pair.client, "small").bytes, 5U);
  EXPECT_FALSE(arrived(loop, *pair.server)) << "it is held until the end of the turn";
  co_await Bounce{loop};
  EXPECT_TRUE(arrived(loop, *pair.server));
  const Got got = co_await read_until(*pair.server, 5, patiently(loop));
  EXPECT_EQ(got.bytes, "small");
}
TEST_F(HeldSendsOfALoop, SmallWritesLeaveAtTheEndOfTheTurn) {
  run(small_write(loop_));
}

Task<void> settled(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  EXPECT_EQ(write_now(*pair.client, "now").bytes, 3U);
  EXPECT_TRUE(pair.client->settle());
  EXPECT_TRUE(arrived(loop, *pair.server));
}
TEST_F(HeldSendsOfALoop, SettlingSendsAtOnce) {
  run(settled(loop_));
}

Task<void> mixed_sizes(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  StreamPair other = co_await connected_pair(loop);
  const std::string large(3 * HeldSends::kWriteMax, 'L');
  std::string expected;
  const auto write = [&](std::string_view bytes) {
    EXPECT_EQ(write_now(*pair.client, bytes).bytes, bytes.size());
    expected.append(bytes);
  };
  write("one ");
  write("grows ");
  write_now(*other.client, "between");
  write("a second piece behind another's ");
  write(large);
  write("last");
  const Got got = co_await read_until(*pair.server, expected.size(), patiently(loop));
  EXPECT_EQ(got.bytes, expected);
  const Got between = co_await read_until(*other.server, 7, patiently(loop));
  EXPECT_EQ(between.bytes, "between");
}
TEST_F(HeldSendsOfALoop, KeepTheirOrder) {
  run(mixed_sizes(loop_));
}

Task<void> more_than_fit(EpollLoop& loop) {
  std::vector<StreamPair> pairs;
  for (std::size_t i = 0; i < HeldSends::kSendsMax + 3; ++i) pairs.push_back(co_await connected_pair(loop));
  const std::string bytes(HeldSends::kWriteMax, 'x');
  for (const StreamPair& pair : pairs) {
    EXPECT_EQ(write_now(*pair.client, bytes).bytes, bytes.size());
  }
  for (const StreamPair& pair : pairs) {
    const Got got = co_await read_until(*pair.server, bytes.size(), patiently(loop));
    EXPECT_EQ(got.bytes, bytes);
  }
}
TEST_F(HeldSendsOfALoop, AreSentEarlierWhenThereIsNoMoreRoom) {
  run(more_than_fit(loop_));
}

// Writes small pieces until the stream takes no more, and gives what it took.
std::string fill(Stream& stream) {
  std::string taken;
  for (int i = 0;; ++i) {
    const std::string piece = std::to_string(i) + std::string(3'000, '.');
    const IoTry tried = write_now(stream, piece);
    if (tried.status != IoStatus::Done) break;
    EXPECT_EQ(tried.bytes, piece.size()) << "a small write is taken whole";
    taken += piece;
  }
  return taken;
}

Task<void> refused_by_the_kernel(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string taken = fill(*pair.client);
  EXPECT_FALSE(pair.client->settle());
  const Got got = co_await read_until(*pair.server, taken.size(), patiently(loop));
  EXPECT_EQ(got.bytes, taken);
  while (!pair.client->settle()) {
    const Wake wake = co_await pair.client->writable(patiently(loop));
    EXPECT_EQ(wake, Wake::Ready);
  }
  EXPECT_EQ(write_now(*pair.client, "more").bytes, 4U);
  const Got more = co_await read_until(*pair.server, 4, patiently(loop));
  EXPECT_EQ(more.bytes, "more");
}
TEST_F(HeldSendsOfALoop, WhatTheKernelRefusesIsSentLater) {
  run(refused_by_the_kernel(loop_));
}

Task<void> end_behind_the_unsent(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string taken = fill(*pair.client);
  pair.client->shutdown_write();
  const Got got = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Closed);
  EXPECT_EQ(got.bytes, taken);
}
TEST_F(HeldSendsOfALoop, TheEndGoesBehindWhatIsUnsent) {
  run(end_behind_the_unsent(loop_));
}

Task<void> closed_at_once(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  write_now(*pair.client, "goodbye");
  pair.client.reset();
  const Got got = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Closed);
  EXPECT_EQ(got.bytes, "goodbye");
}
TEST_F(HeldSendsOfALoop, ACloseInTheSameTurnLosesNothing) {
  run(closed_at_once(loop_));
}

Task<void> peer_reset_meanwhile(EpollLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  co_await Bounce{loop};
  pair.server->set_reset_on_close();
  pair.server.reset();
  // The loop has not heard of the reset yet.
  EXPECT_EQ(write_now(*pair.client, "into the void").status, IoStatus::Done);
  const Got got = co_await read_to_end(*pair.client, patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Failed) << "the reader is told";
  EXPECT_TRUE(pair.client->hung_up());
  EXPECT_EQ(write_now(*pair.client, "again").status, IoStatus::Failed) << "and the next write too";
}
TEST_F(HeldSendsOfALoop, AFailedSendIsToldToTheReaderAndTheNextWrite) {
  run(peer_reset_meanwhile(loop_));
}

}  // namespace
}  // namespace qq::net
