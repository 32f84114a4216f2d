// What every event loop promises, run on each implementation; of its streams: stream_contract_test.cc.
#include "net/loop_kinds.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class EventLoopContract : public OnEachLoop {};
INSTANTIATE_TEST_SUITE_P(Loops, EventLoopContract, loop_kinds(), loop_name);

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

Task<void> wait_until_cancelled(EventLoop& loop, Cancellation& cancel, Wake& wake) {
  const Scope scope{kNever, &cancel};
  wake = co_await sleep(loop, scope);
}
TEST_P(EventLoopContract, WhoIsCancelledByThePostThatStopsTheLoopIsWokenBefore) {
  Cancellation cancel(loop_);
  TaskGroup group;
  Wake wake = Wake::Deadline;
  group.spawn(wait_until_cancelled(loop_, cancel, wake));
  loop_.post([&] {
    cancel.cancel(ErrorKind::ShuttingDown);
    loop_.stop();
  });
  loop_.run();
  EXPECT_EQ(wake, Wake::Cancelled);
  EXPECT_EQ(group.running(), 0U);
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
