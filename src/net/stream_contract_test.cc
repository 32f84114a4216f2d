// What the streams of every event loop promise, run on each implementation.
#include "net/loop_kinds.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class StreamContract : public OnEachLoop {};
INSTANTIATE_TEST_SUITE_P(Loops, StreamContract, loop_kinds(), loop_name);

Task<void> echo(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const Written sent = co_await write_all(*pair.client, "hello", patiently(loop));
  EXPECT_EQ(sent.bytes, 5U);
  const Got asked = co_await read_until(*pair.server, 5, patiently(loop));
  EXPECT_EQ(asked.bytes, "hello");
  co_await write_all(*pair.server, asked.bytes + " back", patiently(loop));
  const Got answer = co_await read_until(*pair.client, 10, patiently(loop));
  EXPECT_EQ(answer.bytes, "hello back");
}
TEST_P(StreamContract, CarriesBytesBothWays) {
  run_task(loop_, echo(loop_));
}

Task<void> gathered(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  std::string head = "head ";
  std::string body = "body";
  const std::array<iovec, 3> pieces = {iovec{head.data(), head.size()}, iovec{nullptr, 0},
                                       iovec{body.data(), body.size()}};
  const IoTry wrote = pair.client->try_write(pieces);
  EXPECT_EQ(wrote.bytes, 9U);
  const Got got = co_await read_until(*pair.server, 9, patiently(loop));
  EXPECT_EQ(got.bytes, "head body");
}
TEST_P(StreamContract, GathersPiecesInOrder) {
  run_task(loop_, gathered(loop_));
}

// Until it takes no more, whatever moves on into the peer's buffers meanwhile; how much it took.
Task<std::size_t> fill_up(Stream& stream) {
  const std::string piece = noise(64UL * 1024);
  std::size_t taken = 0;
  for (;;) {
    const IoTry tried = write_now(stream, piece);
    if (tried.status == IoStatus::Done) {
      taken += tried.bytes;
      continue;
    }
    const Wake wake = co_await stream.writable(within(stream.loop(), 100ms));
    if (wake != Wake::Ready) co_return taken;
  }
}
Task<void> slow_reader(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::size_t taken = co_await fill_up(*pair.client);
  const std::uint64_t before = pair.client->acknowledged();
  EXPECT_LT(before, taken);
  static_cast<void>(co_await time_passes(loop, within(loop, 50ms)));
  EXPECT_EQ(pair.client->acknowledged(), before) << "nobody reads";
  std::size_t read = 0;
  while (pair.client->acknowledged() == before && read < taken) {
    const Got got = co_await read_until(*pair.server, 4'096, patiently(loop));
    read += got.bytes.size();
    co_await Bounce{loop};
  }
  EXPECT_GT(pair.client->acknowledged(), before);
  const Wake wake = co_await pair.client->writable(within(loop, 1ms));
  EXPECT_EQ(wake, Wake::Deadline) << "there is no room yet";
  const Got rest = co_await read_until(*pair.server, taken - read, patiently(loop));
  EXPECT_EQ(rest.bytes.size(), taken - read);
  static_cast<void>(co_await time_passes(loop, within(loop, 50ms)));
  EXPECT_EQ(pair.client->acknowledged(), taken);
}
TEST_P(StreamContract, WhatASlowReaderTakesShowsBeforeThereIsRoom) {
  run_task(loop_, slow_reader(loop_));
}

Task<void> half_close(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  co_await write_all(*pair.client, "question", patiently(loop));
  pair.client->shutdown_write();
  const Got asked = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(asked.status, IoStatus::Closed);
  EXPECT_EQ(asked.bytes, "question");
  EXPECT_TRUE(pair.server->hung_up());
  co_await write_all(*pair.server, "answer", patiently(loop));
  pair.server.reset();
  const Got answer = co_await read_to_end(*pair.client, patiently(loop));
  EXPECT_EQ(answer.status, IoStatus::Closed);
  EXPECT_EQ(answer.bytes, "answer");
}
TEST_P(StreamContract, HalfCloseLeavesTheOtherDirectionOpen) {
  run_task(loop_, half_close(loop_));
}

Task<void> closed_stays_closed(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  pair.client.reset();
  const Got first = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(first.status, IoStatus::Closed);
  const Got second = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(second.status, IoStatus::Closed);
}
TEST_P(StreamContract, TheEndIsToldEveryTime) {
  run_task(loop_, closed_stays_closed(loop_));
}

Task<void> reset(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  pair.client->set_reset_on_close();
  pair.client.reset();
  const Got got = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Failed);
  EXPECT_EQ(got.error, ECONNRESET);
  EXPECT_TRUE(pair.server->hung_up());
  const Got again = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(again.status, IoStatus::Failed) << "a reset is never taken for an orderly end";
}
TEST_P(StreamContract, ResetIsAFailure) {
  run_task(loop_, reset(loop_));
}

Task<void> reset_met_by_write(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  co_await write_all(*pair.client, "last words", patiently(loop));
  // The bytes are there before the reset is.
  EXPECT_EQ(co_await pair.server->readable(patiently(loop)), Wake::Ready);
  Cancellation gone(loop);
  pair.server->watch_hangup(&gone);
  pair.client->set_reset_on_close();
  pair.client.reset();
  static_cast<void>(co_await time_passes(loop, until_cancelled(gone)));
  const IoTry wrote = write_now(*pair.server, "too late");
  EXPECT_EQ(wrote.status, IoStatus::Failed);
  const Got got = co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Failed) << "also when a write met the error first";
  pair.server->watch_hangup(nullptr);
}
TEST_P(StreamContract, ResetMetByAWriteIsStillAFailureForTheReader) {
  run_task(loop_, reset_met_by_write(loop_));
}

Task<void> wait_for_cancel(EventLoop& loop, Cancellation& cancel, Wake& wake) {
  wake = co_await time_passes(loop, within(loop, 20s, &cancel));
}
Task<void> hangup_cancels(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  Cancellation cancel(loop);
  pair.server->watch_hangup(&cancel);
  pair.client.reset();
  Wake wake = Wake::Ready;
  co_await wait_for_cancel(loop, cancel, wake);
  EXPECT_EQ(wake, Wake::Cancelled);
  EXPECT_EQ(cancel.reason(), ErrorKind::ClientGone);
  pair.server->watch_hangup(nullptr);
}
TEST_P(StreamContract, HangupCancelsThoughNobodyReads) {
  run_task(loop_, hangup_cancels(loop_));
}

Task<void> hangup_with_unread(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  Cancellation cancel(loop);
  pair.server->watch_hangup(&cancel, ErrorKind::EarlyClose);
  co_await write_all(*pair.client, "unread", patiently(loop));
  pair.client->shutdown_write();
  Wake wake = Wake::Ready;
  co_await wait_for_cancel(loop, cancel, wake);
  EXPECT_EQ(wake, Wake::Cancelled);
  EXPECT_EQ(cancel.reason(), ErrorKind::EarlyClose);
  pair.server->watch_hangup(nullptr);
}
TEST_P(StreamContract, HangupBehindUnreadBytesCancels) {
  run_task(loop_, hangup_with_unread(loop_));
}

Task<void> watch_after_hangup(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  pair.client.reset();
  co_await read_to_end(*pair.server, patiently(loop));
  Cancellation cancel(loop);
  pair.server->watch_hangup(&cancel);
  EXPECT_TRUE(cancel.cancelled());
}
TEST_P(StreamContract, WatchingAfterTheHangupCancelsAtOnce) {
  run_task(loop_, watch_after_hangup(loop_));
}

Task<void> unwatched(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  Cancellation cancel(loop);
  pair.server->watch_hangup(&cancel);
  pair.server->watch_hangup(nullptr);
  pair.client.reset();
  co_await read_to_end(*pair.server, patiently(loop));
  EXPECT_FALSE(cancel.cancelled());
}
TEST_P(StreamContract, AnEndedWatchCancelsNothing) {
  run_task(loop_, unwatched(loop_));
}

Task<void> write_patiently(Stream& stream, std::string_view bytes, Written& result) {
  result = co_await write_all(stream, bytes, patiently(stream.loop()));
}
Task<void> back_pressure(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string big = noise(32UL << 20U);
  Written written;
  TaskGroup group;
  group.spawn(write_patiently(*pair.client, big, written));
  EXPECT_EQ(group.running(), 1U) << "nobody reads, so the writer must wait";
  const Got got = co_await read_until(*pair.server, big.size(), patiently(loop));
  EXPECT_TRUE(got.bytes == big);
  co_await group.joined();
  EXPECT_EQ(written.bytes, big.size());
}
TEST_P(StreamContract, WriterWaitsForTheReaderAndNothingIsLost) {
  run_task(loop_, back_pressure(loop_));
}

Task<void> write_stall(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string big = noise(32UL << 20U);
  const Written stalled = co_await write_all(*pair.client, big, within(loop, 5ms));
  EXPECT_EQ(stalled.wake, Wake::Deadline);
  EXPECT_LT(stalled.bytes, big.size());
}
TEST_P(StreamContract, StalledWriteEndsAtItsDeadline) {
  run_task(loop_, write_stall(loop_));
}

Task<void> both_ways(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string up = noise(3UL << 20U, 1);
  const std::string down = noise(3UL << 20U, 2);
  Written wrote_up;
  Written wrote_down;
  TaskGroup group;
  group.spawn(write_patiently(*pair.client, up, wrote_up));
  group.spawn(write_patiently(*pair.server, down, wrote_down));
  const Got at_server = co_await read_until(*pair.server, up.size(), patiently(loop));
  const Got at_client = co_await read_until(*pair.client, down.size(), patiently(loop));
  EXPECT_TRUE(at_server.bytes == up);
  EXPECT_TRUE(at_client.bytes == down);
  co_await group.joined();
}
TEST_P(StreamContract, BothDirectionsAtOnceStayExact) {
  run_task(loop_, both_ways(loop_));
}

Task<void> read_deadline(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const MonotonicTime start = loop.now();
  const Got got = co_await read_to_end(*pair.client, within(loop, 20ms));
  EXPECT_EQ(got.wake, Wake::Deadline);
  EXPECT_GE(loop.now() - start, 20ms) << "a timer is never early";
}
TEST_P(StreamContract, ReadEndsAtItsDeadline) {
  run_task(loop_, read_deadline(loop_));
}

Task<void> cancelled_read(Stream& stream, Cancellation& cancel, Wake& wake) {
  wake = co_await stream.readable(until_cancelled(cancel));
}
Task<void> cancel_wakes(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  Cancellation cancel(loop);
  Wake wake = Wake::Ready;
  TaskGroup group;
  group.spawn(cancelled_read(*pair.client, cancel, wake));
  cancel.cancel(ErrorKind::ShuttingDown);
  EXPECT_EQ(group.running(), 1U) << "waiters wake after the batch, not inside the call";
  cancel.cancel(ErrorKind::ClientGone);
  co_await group.joined();
  EXPECT_EQ(wake, Wake::Cancelled);
  EXPECT_EQ(cancel.reason(), ErrorKind::ShuttingDown) << "the first reason stays";
}
TEST_P(StreamContract, CancelWakesAWaitingReader) {
  run_task(loop_, cancel_wakes(loop_));
}

}  // namespace
}  // namespace qq::net
