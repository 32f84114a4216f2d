// Waiting: a coroutine suspends until a stream is ready, a deadline passes or its request is cancelled,
// whichever comes first. No frame and no allocation per wait.
#pragma once
#include <coroutine>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "base/error.h"
#include "base/time.h"

namespace qq::net {

class EventLoop;

enum class Wake : std::uint8_t {
  Ready,  // try again; may be spurious
  Deadline,
  Cancelled,
};

// A timer as an intrusive node: arming and disarming allocate nothing. The owner outlives the arming.
// Accuracy of the real loop: never early, at most a few milliseconds late on an idle loop.
class Timer {
 public:
  using Fire = void (*)(Timer&) noexcept;
  explicit Timer(Fire fire) noexcept : fire_(fire) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { QQ_ASSERT(!armed()); }
  [[nodiscard]] bool armed() const noexcept { return next_ != nullptr; }
  [[nodiscard]] MonotonicTime when() const noexcept { return when_; }

 private:
  friend class TimerWheel;
  friend class SimulatedLoop;
  Timer* prev_ = nullptr;
  Timer* next_ = nullptr;
  MonotonicTime when_{};
  std::uint32_t slot_ = 0;  // for the loop
  Fire fire_;
};

class Waiter;

// Tells everything a request waits for that it should stop, and why. One per request; `cancel` may be
// called from anywhere on the loop's thread, any number of times (the first reason stays). Waiters wake
// after the current batch, not inside the call.
class Cancellation {
 public:
  explicit Cancellation(EventLoop& loop) noexcept : loop_(loop) {}
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;
  ~Cancellation();  // no waiter may be left

  void cancel(ErrorKind why) noexcept;
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] ErrorKind reason() const noexcept { return reason_; }  // when cancelled
  [[nodiscard]] EventLoop& loop() const noexcept { return loop_; }

 private:
  friend class Waiter;
  EventLoop& loop_;
  Waiter* first_ = nullptr;
  ErrorKind reason_ = ErrorKind::Cancelled;
  bool cancelled_ = false;
};

// Until when, and under which cancellation, an operation may wait. Passed by value, made narrower on the
// way down; `cancel` may be null.
struct Scope {
  MonotonicTime deadline = kNever;
  Cancellation* cancel = nullptr;

  [[nodiscard]] Scope until(MonotonicTime earlier) const noexcept {
    return {earlier < deadline ? earlier : deadline, cancel};
  }
};

// Where a stream or another source finds the coroutine to wake. One source at a time.
class Waiter : private Timer {
 public:
  explicit Waiter(EventLoop& loop) noexcept;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();

  // Called by awaiters. `slot` is the source's pointer to its waiter; it is set now and cleared at wake-up.
  void suspend(std::coroutine_handle<> handle, Waiter*& slot, const Scope& scope) noexcept;
  // Wakes the coroutine now, on this stack; no-op if it is not suspended.
  void fire(Wake wake) noexcept;
  // Wakes it after the current batch.
  void fire_later(Wake wake) noexcept;
  [[nodiscard]] Wake wake() const noexcept { return wake_; }

 private:
  friend class Cancellation;
  friend class WaiterQueue;
  static void deadline_passed(Timer& timer) noexcept;
  void release() noexcept;

  EventLoop& loop_;
  std::coroutine_handle<> handle_ = nullptr;
  Waiter** source_ = nullptr;
  Cancellation* cancel_ = nullptr;
  Waiter* before_ = nullptr;  // in the cancellation's list, later in the loop's queue
  Waiter* after_ = nullptr;
  Wake wake_ = Wake::Ready;
  bool queued_ = false;  // in the loop's ready queue
};

// What is left to say when a wait must not even begin: the request is cancelled, or its time is up. Nothing
// otherwise.
std::optional<Wake> refuses_to_wait(EventLoop& loop, const Scope& scope) noexcept;
// The error of a wait that ended with Wake::Cancelled: given up by the client, or by us. `phase` is how far
// what was waited for had come.
Error cancelled_error(const Scope& scope, AttemptPhase phase = AttemptPhase::NotSent);

// The waiters that a loop wakes after the batch, in order; intrusive.
class WaiterQueue {
 public:
  void push(Waiter& waiter) noexcept;
  void remove(Waiter& waiter) noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  // Wakes those that are in it now; waiters queued meanwhile stay for the next call.
  void wake_all() noexcept;

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

// co_await sleep(loop, scope): Deadline when the scope's deadline came, Cancelled when cancelled.
class SleepAwaiter {
 public:
  SleepAwaiter(EventLoop& loop, Scope scope) noexcept : loop_(loop), waiter_(loop), scope_(scope) {}
  [[nodiscard]] bool await_ready() noexcept;
  void await_suspend(std::coroutine_handle<> handle) noexcept;
  [[nodiscard]] Wake await_resume() const noexcept { return wake_ready_ ? ready_ : waiter_.wake(); }

 private:
  EventLoop& loop_;
  Waiter waiter_;
  Scope scope_;
  Waiter* slot_ = nullptr;
  bool wake_ready_ = false;
  Wake ready_ = Wake::Ready;
};
SleepAwaiter sleep(EventLoop& loop, Scope scope) noexcept;

// A one-shot or repeated signal between coroutines of one loop: `wait` until `set`. One waiting coroutine.
class Signal {
 public:
  explicit Signal(EventLoop& loop) noexcept : loop_(loop) {}
  // Wakes the waiter after the current batch, or lets the next wait return at once.
  void set() noexcept;
  void reset() noexcept { set_ = false; }
  [[nodiscard]] bool is_set() const noexcept { return set_; }

  class Awaiter {
   public:
    Awaiter(Signal& signal, Scope scope) noexcept;
    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> handle) noexcept;
    [[nodiscard]] Wake await_resume() const noexcept { return wake_ready_ ? ready_ : waiter_.wake(); }

   private:
    Signal& signal_;
    Waiter waiter_;
    Scope scope_;
    bool wake_ready_ = false;
    Wake ready_ = Wake::Ready;
  };
  Awaiter wait(Scope scope) noexcept { return Awaiter(*this, scope); }

 private:
  EventLoop& loop_;
  Waiter* waiter_ = nullptr;
  bool set_ = false;
};

}  // namespace qq::net
