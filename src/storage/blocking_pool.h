// Threads for work that blocks, beside the event loops: a coroutine hands work over and is resumed on its own
// loop with the result.
//
//   BlockingPool pool({.name = "qq-store-w"});
//   const Result<int> found = co_await pool.run(loop, scope, bytes, [&db, id] { return db.find(id); });
//
// Work is begun in the order in which it came; with one thread it is also done in that order, and needs no
// lock. What one owner has waiting is bounded too, so that the others' finds room and does not wait long. It
// runs with all signals blocked, returns a Result and throws nothing.
//
// The queue is bounded in jobs and in the bytes that jobs say they hold, and each owner's share of it; what
// does not fit is refused at once with Saturated. What nobody waits for any more when its turn comes is
// dropped, not done.
//
// Threading: any thread may call `run` on its own loop. A wait ends early at the scope's deadline
// (TotalTimeout) or its cancellation; work that has begun then goes on, and its result is destroyed on the
// pool's thread. A loop is not touched once the coroutine has gone: it may end before the pool does. Where
// the loop has stopped but its coroutines are still there, the result goes nowhere.
//
// Destruction waits for the work that runs; what only waits is not done, and whoever waits for it gets
// ShuttingDown. What work refers to must outlive the pool.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/wait.h"

namespace qq::storage {

// The place where a pool's thread leaves something for a coroutine; shared by the two.
class Handover {
 public:
  explicit Handover(net::EventLoop& loop) noexcept : loop_(&loop), arrived_(loop) {}
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // --- on the pool's thread ---
  [[nodiscard]] bool abandoned();
  // Runs `function` on the loop and wakes the coroutine, unless it has gone or the loop has stopped.
  void deliver(std::move_only_function<void()> function);

  // --- on the loop's thread ---
  [[nodiscard]] net::Signal& arrived() noexcept { return arrived_; }
  void abandon() noexcept;  // from now on the loop is not touched

 private:
  std::mutex mutex_;
  net::EventLoop* loop_;  // null: abandoned. Guarded
  net::Signal arrived_;
};

class BlockingPool {
 public:
  struct Options {
    std::string name;  // of the threads, at most 15 bytes
    std::size_t threads = 1;
    // Guesses: a second's work of a slow disk, and a few of the largest entries.
    std::size_t queue_max = 1'024;
    std::size_t queue_bytes_max = std::size_t{128} << 20U;
    std::size_t owner_share = 4;  // one owner has at most a quarter of both
  };

  explicit BlockingPool(Options options);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool();

  // `work` is called without arguments and returns a Result; `bytes` is what it holds, `owner` whose it is
  // (empty: nobody's, without a share). Errors, beside its own: Saturated, TotalTimeout, ShuttingDown, the
  // cancellation's reason.
  template <typename Work>
  Task<std::invoke_result_t<Work&>> run(net::EventLoop& loop, net::Scope scope, std::size_t bytes, Work work,
                                        std::string owner = {});

 private:
  enum class Fate : bool { Run, Drop };
  struct Job {
    std::move_only_function<void(Fate)> function;
    std::size_t bytes = 0;
    std::string owner;
  };
  struct Waiting {
    std::size_t jobs = 0;
    std::size_t bytes = 0;
  };
  template <typename R>
  struct Answer : Handover {
    using Handover::Handover;
    std::optional<R> value;  // of the loop's thread
  };
  // Says that the coroutine has gone, however it went.
  class Leaving {
   public:
    explicit Leaving(Handover& handover) noexcept : handover_(handover) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() { handover_.abandon(); }

   private:
    Handover& handover_;
  };

  Result<> submit(Job job);
  [[nodiscard]] bool has_room_for(const Job& job) const;
  void work_off();
  [[nodiscard]] static Error shutting_down();
  [[nodiscard]] static Error ended(net::Wake wake, const net::Scope& scope);

  const Options options_;
  std::mutex mutex_;  // guards the four below
  std::deque<Job> jobs_;
  std::size_t bytes_ = 0;                            // of the jobs that wait
  std::unordered_map<std::string, Waiting> owners_;  // of those with an owner
  bool stopping_ = false;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

template <typename Work>
Task<std::invoke_result_t<Work&>> BlockingPool::run(net::EventLoop& loop, net::Scope scope, std::size_t bytes,
                                                    Work work, std::string owner) {
  using R = std::invoke_result_t<Work&>;
  if (const auto refused = net::refuses_to_wait(loop, scope)) co_return fail(ended(*refused, scope));
  const auto answer = std::make_shared<Answer<R>>(loop);
  const Leaving leaving(*answer);
  Job job;
  job.bytes = bytes;
  job.owner = std::move(owner);
  job.function = [answer, work = std::move(work)](Fate fate) mutable {
    if (answer->abandoned()) return;
    R value = fate == Fate::Run ? work() : R(fail(shutting_down()));
    answer->deliver(
        [answer, value = std::move(value)]() mutable { answer->value.emplace(std::move(value)); });
  };
  QQ_CO_CHECK(submit(std::move(job)));
  const net::Wake wake = co_await answer->arrived().wait(scope);
  if (answer->value) co_return std::move(*answer->value);
  co_return fail(ended(wake, scope));
}

}  // namespace qq::storage
