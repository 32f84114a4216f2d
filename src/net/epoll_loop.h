// The real event loop: edge-triggered epoll, a timer wheel, posts from other threads through an eventfd.
// One thread runs it. A batch is: fetch events, read the clock once, wake what is ready, then the relaxed
// streams that are due, fire timers, run posts, wake what was queued meanwhile.
#pragma once
#include <atomic>
#include <mutex>

#include "net/event_loop.h"
#include "net/held_sends.h"
#include "net/poller.h"
#include "net/relaxed_events.h"
#include "net/timer_wheel.h"

namespace qq::net {

class Resolver;

struct ResolverOptions {
  // "127.0.0.1:5353,[::1]:53"; empty: those of /etc/resolv.conf.
  std::string servers;
  std::chrono::milliseconds timeout{2'000};  // of the first try at one server; later ones take longer
  int tries = 2;                             // at each server
  // An answer is fresh for its TTL, within these: a TTL of 0 would ask DNS for every connection.
  std::chrono::milliseconds shortest_fresh{1'000};
  std::chrono::milliseconds longest_fresh{60'000};
  std::chrono::milliseconds usable{3'600'000};  // how long an answer may stand in while DNS fails
  std::chrono::milliseconds patience{1'000};    // how long a request waits for DNS when it has such an answer
};

struct EpollLoopOptions {
  ResolverOptions dns;
};

class EpollLoop final : public EventLoop {
 public:
  // Throws std::system_error when the kernel has no descriptors left.
  explicit EpollLoop(EpollLoopOptions options = {});
  // The streams, listeners and tasks of the loop are gone by then.
  ~EpollLoop() override;

  [[nodiscard]] MonotonicTime now() const noexcept override { return now_; }
  [[nodiscard]] MonotonicTime precise_now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] WallTime wall_now() const noexcept override { return std::chrono::system_clock::now(); }

  void arm(Timer& timer, MonotonicTime when) noexcept override { timers_.arm(timer, when); }
  void disarm(Timer& timer) noexcept override { timers_.disarm(timer); }

  bool post(std::move_only_function<void()> function) override;
  void resume_later(std::coroutine_handle<> handle) override { later_.push_back(handle); }
  void queue(Waiter& waiter) noexcept override { waiters_.push(waiter); }
  void unqueue(Waiter& waiter) noexcept override { waiters_.remove(waiter); }

  Task<Result<std::unique_ptr<Stream>>> connect(Address address, Scope scope) override;
  Task<Result<std::vector<Address>>> resolve(std::string host, std::uint16_t port, Scope scope) override;
  Task<Result<std::vector<Address>>> resolve_once(std::string host, std::uint16_t port, Scope scope) override;

  Result<std::unique_ptr<Listener>> listen(const ListenOptions& options, Accepted accepted) override;
  Result<std::unique_ptr<Listener>> share(Listener& listener, Accepted accepted) override;
  std::unique_ptr<Stream> adopt(AcceptedSocket socket) override;

  [[nodiscard]] std::span<char> scratch() noexcept override { return {scratch_.get(), kScratchBytes}; }

  // May be called again after it returned; posts are refused in between.
  void run() override;
  void stop() noexcept override;

  [[nodiscard]] std::chrono::nanoseconds take_worst_batch() noexcept override {
    return std::exchange(worst_batch_, std::chrono::nanoseconds{0});
  }

  // For the files of net/.
  [[nodiscard]] Poller& poller() noexcept { return poller_; }
  [[nodiscard]] RelaxedEvents& relaxed_events() noexcept { return relaxed_; }
  [[nodiscard]] HeldSends& held_sends() noexcept { return held_sends_; }

 private:
  static constexpr std::size_t kScratchBytes = 64UL * 1024;

  // The eventfd that posts and `stop` write to. Edge-triggered: each write is an event of its own, so its
  // counter is never read.
  struct Wakeup final : PollTarget {
    void on_events(std::uint32_t /*events*/) noexcept override { signalled = true; }
    int fd = -1;
    bool signalled = false;
    Poller::Token token;
  };

  [[nodiscard]] std::chrono::nanoseconds patience(MonotonicTime now) const noexcept;
  void wake() noexcept;
  void run_posts();
  void resume_queued();

  EpollLoopOptions options_;
  Poller poller_;
  RelaxedEvents relaxed_{poller_};
  HeldSends held_sends_;
  MonotonicTime now_;
  TimerWheel timers_;
  Wakeup wakeup_;
  WaiterQueue waiters_;
  std::vector<std::coroutine_handle<>> later_;
  std::vector<std::coroutine_handle<>> resuming_;
  std::unique_ptr<char[]> scratch_;
  std::unique_ptr<Resolver> resolver_;  // made at the first name
  std::chrono::nanoseconds worst_batch_{0};

  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // guards the two below
  std::vector<std::move_only_function<void()>> posts_;
  bool closed_ = false;
};

}  // namespace qq::net
