// What every event loop promises, run on each implementation.
#include "net/epoll_loop.h"
#include "net/simulated_loop.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct LoopKind {
  const char* name;
  std::unique_ptr<EventLoop> (*make)();
};

class EventLoopContract : public ::testing::TestWithParam<LoopKind> {
 protected:
  std::unique_ptr<EventLoop> owner_ = GetParam().make();
  EventLoop& loop_ = *owner_;
};

INSTANTIATE_TEST_SUITE_P(
    Loops, EventLoopContract,
    ::testing::Values(LoopKind{"Epoll", [] { return std::unique_ptr<EventLoop>(new EpollLoop()); }},
                      LoopKind{"Simulated", [] { return std::unique_ptr<EventLoop>(new SimulatedLoop()); }}),
    [](const auto& info) { return info.param.name; });

// --- streams ---

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
TEST_P(EventLoopContract, CarriesBytesBothWays) {
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
TEST_P(EventLoopContract, GathersPiecesInOrder) {
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
TEST_P(EventLoopContract, WhatASlowReaderTakesShowsBeforeThereIsRoom) {
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
TEST_P(EventLoopContract, HalfCloseLeavesTheOtherDirectionOpen) {
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
TEST_P(EventLoopContract, TheEndIsToldEveryTime) {
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
TEST_P(EventLoopContract, ResetIsAFailure) {
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
TEST_P(EventLoopContract, ResetMetByAWriteIsStillAFailureForTheReader) {
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
TEST_P(EventLoopContract, HangupCancelsThoughNobodyReads) {
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
TEST_P(EventLoopContract, HangupBehindUnreadBytesCancels) {
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
TEST_P(EventLoopContract, WatchingAfterTheHangupCancelsAtOnce) {
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
TEST_P(EventLoopContract, AnEndedWatchCancelsNothing) {
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
TEST_P(EventLoopContract, WriterWaitsForTheReaderAndNothingIsLost) {
  run_task(loop_, back_pressure(loop_));
}

Task<void> write_stall(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const std::string big = noise(32UL << 20U);
  const Written stalled = co_await write_all(*pair.client, big, within(loop, 5ms));
  EXPECT_EQ(stalled.wake, Wake::Deadline);
  EXPECT_LT(stalled.bytes, big.size());
}
TEST_P(EventLoopContract, StalledWriteEndsAtItsDeadline) {
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
TEST_P(EventLoopContract, BothDirectionsAtOnceStayExact) {
  run_task(loop_, both_ways(loop_));
}

Task<void> read_deadline(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const MonotonicTime start = loop.now();
  const Got got = co_await read_to_end(*pair.client, within(loop, 20ms));
  EXPECT_EQ(got.wake, Wake::Deadline);
  EXPECT_GE(loop.now() - start, 20ms) << "a timer is never early";
}
TEST_P(EventLoopContract, ReadEndsAtItsDeadline) {
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
TEST_P(EventLoopContract, CancelWakesAWaitingReader) {
  run_task(loop_, cancel_wakes(loop_));
}

Task<void> cancelled_before(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  Cancellation cancel(loop);
  cancel.cancel(ErrorKind::ClientGone);
  const Scope scope{kNever, &cancel};
  EXPECT_EQ(co_await pair.client->readable(scope), Wake::Cancelled);
  EXPECT_EQ(co_await time_passes(loop, scope), Wake::Cancelled);
  Signal signal(loop);
  EXPECT_EQ(co_await signal.wait(scope), Wake::Cancelled);
}
TEST_P(EventLoopContract, NothingWaitsUnderACancelledScope) {
  run_task(loop_, cancelled_before(loop_));
}

Task<void> deadline_passed(EventLoop& loop) {
  StreamPair pair = co_await connected_pair(loop);
  const Scope scope{loop.now() - 1ms, nullptr};
  EXPECT_EQ(co_await pair.client->readable(scope), Wake::Deadline);
  EXPECT_EQ(co_await time_passes(loop, scope), Wake::Deadline);
}
TEST_P(EventLoopContract, NothingWaitsAfterTheDeadline) {
  run_task(loop_, deadline_passed(loop_));
}

Task<void> refused(EventLoop& loop) {
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  Address address;
  {
    auto listener = loop.listen(options, [](AcceptedSocket) {});
    address = listener.value()->local();
  }
  const auto stream = co_await loop.connect(address, patiently(loop));
  EXPECT_FALSE(stream.has_value());
  if (stream) co_return;
  EXPECT_EQ(stream.error().kind, ErrorKind::ConnectFailed);
  EXPECT_EQ(stream.error().phase, AttemptPhase::NotSent);
}
TEST_P(EventLoopContract, ConnectToNobodyIsRefused) {
  run_task(loop_, refused(loop_));
}

Task<void> dropped(EventLoop& loop) {
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener =
      loop.listen(options, [](AcceptedSocket socket) { const AcceptedSocket unwanted(std::move(socket)); });
  auto stream = co_await loop.connect(listener.value()->local(), patiently(loop));
  const Got got = co_await read_to_end(*stream.value(), patiently(loop));
  EXPECT_EQ(got.status, IoStatus::Closed);
}
TEST_P(EventLoopContract, AnAcceptedSocketThatNobodyAdoptsIsClosed) {
  run_task(loop_, dropped(loop_));
}

Task<void> shared_listener(EventLoop& loop) {
  int first = 0;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener = loop.listen(options, [&](AcceptedSocket) { ++first; });
  const Address address = listener.value()->local();
  {
    auto sharing = loop.listen(options, [](AcceptedSocket) {});
    EXPECT_FALSE(sharing.value()->local() == address) << "port 0 is a new port each time";
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE((co_await loop.connect(address, patiently(loop))).has_value());
  while (first < 10) co_await Bounce{loop};
  EXPECT_EQ(first, 10);
}
TEST_P(EventLoopContract, EveryConnectionIsAcceptedOnce) {
  run_task(loop_, shared_listener(loop_));
}

Task<void> numeric_names(EventLoop& loop) {
  const auto v4 = co_await loop.resolve("127.0.0.1", 80, patiently(loop));
  EXPECT_EQ(v4.value().front().text(), "127.0.0.1:80");
  const auto v6 = co_await loop.resolve("::1", 443, patiently(loop));
  EXPECT_EQ(v6.value().front().text(), "[::1]:443");
}
TEST_P(EventLoopContract, NumericHostsNeedNoDns) {
  run_task(loop_, numeric_names(loop_));
}

// A coroutine woken by one event of a batch destroys the stream that a later event of the same batch is for.
struct Victims {
  std::vector<StreamPair> pairs;
  int woken = 0;
};
Task<void> kill_the_others(Victims& victims, std::size_t self) {
  Stream& mine = *victims.pairs[self].server;
  EXPECT_EQ(co_await mine.readable(patiently(mine.loop())), Wake::Ready);
  ++victims.woken;
  for (std::size_t i = 0; i < victims.pairs.size(); ++i) {
    if (i != self) victims.pairs[i].client->set_reset_on_close();
  }
}
Task<void> destruction_in_a_batch(EventLoop& loop) {
  Victims victims;
  for (int i = 0; i < 20; ++i) victims.pairs.push_back(co_await connected_pair(loop));
  {
    TaskGroup group;
    group.spawn(kill_the_others(victims, 0));
    for (StreamPair& pair : victims.pairs) write_now(*pair.client, "x");
    co_await group.joined();
  }
  // All twenty have an event now; the first coroutine to run takes everything away.
  EXPECT_EQ(victims.woken, 1);
  victims.pairs.clear();
  static_cast<void>(co_await time_passes(loop, within(loop, 1ms)));
}
TEST_P(EventLoopContract, StreamsMayDieInsideABatch) {
  run_task(loop_, destruction_in_a_batch(loop_));
}

Task<void> a_thousand(EventLoop& loop) {
  for (int round = 0; round < 4; ++round) {
    std::vector<StreamPair> pairs;
    for (int i = 0; i < 250; ++i) pairs.push_back(co_await connected_pair(loop));
    for (StreamPair& pair : pairs) co_await write_all(*pair.client, "ping", patiently(loop));
    for (StreamPair& pair : pairs) {
      const Got got = co_await read_until(*pair.server, 4, patiently(loop));
      EXPECT_EQ(got.bytes, "ping");
    }
  }
}
TEST_P(EventLoopContract, AThousandConnectionsOpenAndClose) {
  run_task(loop_, a_thousand(loop_));
}

// --- timers, signals, posts ---

Task<void> note_after(EventLoop& loop, std::chrono::milliseconds time, int id, std::vector<int>& order) {
  EXPECT_EQ(co_await time_passes(loop, within(loop, time)), Wake::Deadline);
  order.push_back(id);
}
Task<void> timers_in_order(EventLoop& loop) {
  std::vector<int> order;
  TaskGroup group;
  group.spawn(note_after(loop, 30ms, 3, order));
  group.spawn(note_after(loop, 10ms, 1, order));
  group.spawn(note_after(loop, 20ms, 2, order));
  co_await group.joined();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}
TEST_P(EventLoopContract, SleepersWakeInTheOrderOfTheirDeadlines) {
  run_task(loop_, timers_in_order(loop_));
}

Task<void> signals(EventLoop& loop) {
  Signal signal(loop);
  signal.set();
  EXPECT_EQ(co_await signal.wait(patiently(loop)), Wake::Ready) << "set before the wait";
  signal.reset();
  EXPECT_EQ(co_await signal.wait(within(loop, 2ms)), Wake::Deadline);
}
TEST_P(EventLoopContract, SignalLetsALaterWaitReturnAtOnce) {
  run_task(loop_, signals(loop_));
}

Task<void> wait_for_signal(EventLoop& loop, Signal& signal, Wake& wake) {
  wake = co_await signal.wait(patiently(loop));
}
Task<void> signal_wakes(EventLoop& loop) {
  Signal signal(loop);
  Wake wake = Wake::Deadline;
  TaskGroup group;
  group.spawn(wait_for_signal(loop, signal, wake));
  signal.set();
  EXPECT_EQ(group.running(), 1U) << "waiters wake after the batch";
  co_await group.joined();
  EXPECT_EQ(wake, Wake::Ready);
}
TEST_P(EventLoopContract, SignalWakesItsWaiter) {
  run_task(loop_, signal_wakes(loop_));
}

Task<void> bounces(EventLoop& loop) {
  for (int i = 0; i < 1000; ++i) co_await Bounce{loop};
}
TEST_P(EventLoopContract, ResumeLaterComesBack) {
  run_task(loop_, bounces(loop_));
}

TEST_P(EventLoopContract, PostsRunInOrder) {
  std::vector<int> order;
  loop_.post([&] { order.push_back(1); });
  loop_.post([&] {
    order.push_back(2);
    loop_.post([&] {
      order.push_back(3);
      loop_.stop();
    });
  });
  loop_.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(EventLoopContract, PostIsRefusedAfterTheLoopHasStopped) {
  loop_.post([&] { loop_.stop(); });
  loop_.run();
  EXPECT_FALSE(loop_.post([] {}));
}

}  // namespace
}  // namespace qq::net
