#include "storage/blocking_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <latch>
#include <optional>
#include <thread>

#include "storage/store_test_support.h"

namespace qq::storage {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

// Work that holds a pool's thread until it is let go.
struct Gate {
  std::latch entered{1};
  std::latch open{1};
  Result<int> pass() {
    entered.count_down();
    open.wait();
    return 1;
  }
};

class BlockingPoolTest : public ::testing::Test {
 protected:
  static BlockingPool::Options small() {
    return {.name = "qq-test", .threads = 1, .queue_max = 2, .queue_bytes_max = 100};
  }
  // Begins a job that holds the only thread; its result comes into `held_`.
  void hold(BlockingPool& pool) {
    group_.spawn(keep_result(pool.run(loop_, within(loop_), 0, [this] { return gate_.pass(); }), held_));
    gate_.entered.wait();
  }
  template <typename Work>
  void spawn(BlockingPool& pool, net::Scope scope, std::size_t bytes, Work work,
             std::optional<Result<int>>& result) {
    group_.spawn(keep_result(pool.run(loop_, scope, bytes, std::move(work)), result));
  }
  void run_until_joined() { net::testing::run_task(loop_, join(group_)); }
  static Task<void> join(TaskGroup& group) { co_await group.joined(); }
  static Task<void> until_there(net::EventLoop& loop, std::optional<Result<int>>& result) {
    while (!result) {
      const net::Wake wake = co_await net::testing::time_passes(loop, net::testing::within(loop, 1ms));
      EXPECT_EQ(wake, net::Wake::Deadline);
    }
  }

  static Task<void> joined_after(BlockingPoolTest& test, std::optional<Result<int>>& first,
                                 std::function<void()> then) {
    co_await until_there(test.loop_, first);
    then();
    co_await test.group_.joined();
  }

  Gate gate_;
  net::EpollLoop loop_;
  TaskGroup group_;
  std::optional<Result<int>> held_;
};

TEST_F(BlockingPoolTest, TheResultComesBackToTheLoopsThread) {
  BlockingPool pool(small());
  const auto mine = std::this_thread::get_id();
  std::thread::id worker;
  const auto result = wait_for(loop_, pool.run(loop_, within(loop_), 0, [&]() -> Result<int> {
    worker = std::this_thread::get_id();
    return 7;
  }));
  EXPECT_EQ(result.value(), 7);
  EXPECT_NE(worker, mine);
}

TEST_F(BlockingPoolTest, JobsRunInTheirOrder) {
  BlockingPool::Options roomy_queue = small();
  roomy_queue.queue_max = 100;
  BlockingPool pool(roomy_queue);
  std::vector<int> order;
  std::vector<std::optional<Result<int>>> results(20);
  hold(pool);
  for (int i = 0; i < 20; ++i) {
    const auto work = [&order, i]() -> Result<int> {
      order.push_back(i);
      return i;
    };
    spawn(pool, within(loop_), 0, work, results[static_cast<std::size_t>(i)]);
  }
  EXPECT_TRUE(order.empty());
  gate_.open.count_down();
  run_until_joined();
  ASSERT_EQ(order.size(), 20U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(results.back()->value(), 19);
}

TEST_F(BlockingPoolTest, BeyondTheQueueOrItsBytesWorkIsRefusedAtOnce) {
  BlockingPool pool(small());
  hold(pool);
  const auto work = []() -> Result<int> { return 2; };
  std::array<std::optional<Result<int>>, 4> results;
  spawn(pool, within(loop_), 500, work, results[0]);
  spawn(pool, within(loop_), 1, work, results[1]);
  EXPECT_FALSE(results[0]) << "larger than the bound, but it waits alone";
  ASSERT_TRUE(results[1]);
  EXPECT_EQ(results[1]->error().kind, ErrorKind::Saturated);
  EXPECT_TRUE(results[1]->error().retry_after);
  spawn(pool, within(loop_), 0, work, results[2]);
  EXPECT_TRUE(results[2]) << "the bytes are full";
  gate_.open.count_down();
  run_until_joined();
  EXPECT_EQ(results[0]->value(), 2);
}

TEST_F(BlockingPoolTest, OneOwnerLeavesRoomForTheOthers) {
  BlockingPool::Options shared = small();
  shared.queue_max = 8;
  shared.owner_share = 4;
  BlockingPool pool(shared);
  hold(pool);
  const auto work = []() -> Result<int> { return 2; };
  const auto submit = [&](std::string owner, std::size_t bytes, std::optional<Result<int>>& result) {
    group_.spawn(keep_result(pool.run(loop_, within(loop_), bytes, work, std::move(owner)), result));
    return !result.has_value();
  };
  std::array<std::optional<Result<int>>, 8> results;
  EXPECT_TRUE(submit("greedy", 20, results[0]));
  EXPECT_FALSE(submit("greedy", 20, results[1])) << "a quarter of 100 bytes is its share";
  EXPECT_EQ(results[1]->error().kind, ErrorKind::Saturated);
  EXPECT_TRUE(submit("greedy", 1, results[2]));
  EXPECT_FALSE(submit("greedy", 1, results[3])) << "and of eight jobs two";
  EXPECT_TRUE(submit("modest", 20, results[4]));
  EXPECT_TRUE(submit("large", 50, results[5])) << "more than its share, but it is all that it has";
  gate_.open.count_down();
  // On the loop that runs: what is done while it has stopped goes nowhere.
  const auto once_more = [&] {
    EXPECT_TRUE(submit("greedy", 20, results[6])) << "what was done counts no more";
  };
  net::testing::run_task(loop_, joined_after(*this, results[5], once_more));
  ASSERT_TRUE(results[6]);
  EXPECT_EQ(results[6]->value(), 2);
}

TEST_F(BlockingPoolTest, TheQueueHasALength) {
  BlockingPool pool(small());
  hold(pool);
  const auto work = []() -> Result<int> { return 2; };
  std::array<std::optional<Result<int>>, 3> results;
  for (auto& result : results) spawn(pool, within(loop_), 1, work, result);
  EXPECT_FALSE(results[1]);
  ASSERT_TRUE(results[2]);
  EXPECT_EQ(results[2]->error().kind, ErrorKind::Saturated);
  gate_.open.count_down();
  run_until_joined();
}

TEST_F(BlockingPoolTest, AWaitEndsAtItsDeadlineAndWhatHadNotBegunIsNotDone) {
  bool done = false;
  {
    BlockingPool pool(small());
    hold(pool);
    std::optional<Result<int>> result;
    const auto work = [&done]() -> Result<int> {
      done = true;
      return 2;
    };
    spawn(pool, net::testing::within(loop_, 1ms), 0, work, result);
    net::testing::run_task(loop_, joined_after(*this, result, [&] { gate_.open.count_down(); }));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->error().kind, ErrorKind::TotalTimeout);
  }
  EXPECT_FALSE(done);
  EXPECT_EQ(held_->value(), 1);
}

TEST_F(BlockingPoolTest, AWaitEndsWithItsCancellationAndTheWorkGoesOn) {
  net::Cancellation cancel(loop_);
  BlockingPool pool(small());
  std::promise<void> finished;
  std::optional<Result<int>> result;
  const auto work = [&]() -> Result<int> {
    const auto passed = gate_.pass();
    finished.set_value();
    return passed;
  };
  spawn(pool, net::testing::until_cancelled(cancel), 0, work, result);
  gate_.entered.wait();
  cancel.cancel(ErrorKind::ClientGone);
  run_until_joined();
  EXPECT_EQ(result->error().kind, ErrorKind::ClientGone);
  gate_.open.count_down();
  finished.get_future().wait();
}

TEST_F(BlockingPoolTest, NothingIsBegunUnderACancelledScope) {
  net::Cancellation cancel(loop_);
  cancel.cancel(ErrorKind::ShuttingDown);
  BlockingPool pool(small());
  bool done = false;
  const auto result =
      wait_for(loop_, pool.run(loop_, net::testing::until_cancelled(cancel), 0, [&]() -> Result<int> {
        done = true;
        return 1;
      }));
  EXPECT_EQ(result.error().kind, ErrorKind::ShuttingDown);
  EXPECT_FALSE(done);
}

TEST_F(BlockingPoolTest, APoolThatEndsTellsThoseWhoWait) {
  std::optional<Result<int>> waiting;
  {
    auto pool = std::make_unique<BlockingPool>(small());
    hold(*pool);
    spawn(*pool, within(loop_), 0, []() -> Result<int> { return 2; }, waiting);
    std::thread ender([&] { pool.reset(); });
    gate_.open.count_down();
    ender.join();
  }
  run_until_joined();
  EXPECT_EQ(held_->value(), 1) << "what ran was finished";
  EXPECT_EQ(waiting->has_value() ? ErrorKind::ShuttingDown : waiting->error().kind, ErrorKind::ShuttingDown);
}

TEST_F(BlockingPoolTest, ALoopMayEndBeforeTheWorkDoes) {
  BlockingPool pool(small());
  std::promise<void> finished;
  {
    net::EpollLoop loop;
    net::Cancellation cancel(loop);
    std::optional<Result<int>> result;
    TaskGroup group;
    const auto work = [&]() -> Result<int> {
      const auto passed = gate_.pass();
      finished.set_value();
      return passed;
    };
    group.spawn(keep_result(pool.run(loop, net::testing::until_cancelled(cancel), 0, work), result));
    gate_.entered.wait();
    cancel.cancel(ErrorKind::ShuttingDown);
    net::testing::run_task(loop, join(group));
    EXPECT_EQ(result->error().kind, ErrorKind::ShuttingDown);
  }
  gate_.open.count_down();
  finished.get_future().wait();
}

TEST_F(BlockingPoolTest, ALoopMayStopWhileItsCoroutineWaits) {
  {
    BlockingPool pool(small());
    auto loop = std::make_unique<net::EpollLoop>();
    std::optional<Result<int>> result;
    auto waiting = std::make_unique<Task<void>>(
        keep_result(pool.run(*loop, within(*loop), 0, [this] { return gate_.pass(); }), result));
    struct Started {
      struct promise_type {
        Started get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
      };
      std::coroutine_handle<promise_type> handle;
    };
    const auto start = [](Task<void> task) -> Started { co_await std::move(task); };
    const Started started = start(std::move(*waiting));
    gate_.entered.wait();
    loop->post([&] { loop->stop(); });
    loop->run();
    // The frame goes with the request that owned it, then the loop.
    started.handle.destroy();
    loop.reset();
    gate_.open.count_down();
    EXPECT_FALSE(result);
  }
}

}  // namespace
}  // namespace qq::storage
