// Task<T>: a lazy coroutine with one awaiter. It starts when awaited and resumes its awaiter when done
// (symmetric transfer, so long chains of calls use no stack).
//
// Rules (docs/decisions/, CONTRIBUTING.md): a coroutine that may be spawned takes its arguments by
// value; a reference parameter means that the caller awaits at once; lambda coroutines capture nothing.
// Every task that is not awaited in place belongs to a TaskGroup.
//
// Threading: a task lives on one event loop. Nothing here is thread-safe.
#pragma once
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/frame_pool.h"

namespace qq {

template <typename T>
class Task;

namespace detail {

struct TaskFinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
    return handle.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct TaskPromiseBase {
  static void* operator new(std::size_t size) { return FramePool::allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { FramePool::release(frame, size); }

  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::suspend_always initial_suspend() const noexcept { return {}; }
  TaskFinalAwaiter final_suspend() const noexcept { return {}; }
  // Failures are Results; what a library throws stops at its adapter. Anything else is a broken invariant.
  [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
};

template <typename T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <typename U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
};

}  // namespace detail

template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) destroy(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) destroy(handle_);
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        handle.promise().continuation = awaiting;
        return handle;
      }
      T await_resume() const {
        if constexpr (!std::is_void_v<T>) return *std::move(handle.promise().value);
      }
    };
    QQ_ASSERT(handle_);
    return Awaiter{handle_};
  }

 private:
  // Out of line, so that the compiler does not see a frame's end in its caller. Else it would lay the frames
  // of all calls into the caller's, side by side: an idle stream must keep only what it waits in.
  [[gnu::noinline]] static void destroy(Handle handle) noexcept { handle.destroy(); }

  Handle handle_;
};

namespace detail {
template <typename T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}
}  // namespace detail

// Owns tasks that run beside their spawner. `joined()` is awaited before the group dies; at most one
// coroutine may await it.
class TaskGroup {
 public:
  TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup() { QQ_ASSERT(running_ == 0); }

  // Starts the task now; it runs until its first suspension before this returns.
  void spawn(Task<void> task) {
    ++running_;
    run_detached(*this, std::move(task));
  }
  [[nodiscard]] std::size_t running() const noexcept { return running_; }

  auto joined() noexcept {
    struct Awaiter {
      TaskGroup& group;
      bool await_ready() const noexcept { return group.running_ == 0; }
      void await_suspend(std::coroutine_handle<> handle) const noexcept { group.joiner_ = handle; }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }

 private:
  struct Detached {
    struct promise_type {
      Detached get_return_object() const noexcept { return {}; }
      std::suspend_never initial_suspend() const noexcept { return {}; }
      std::suspend_never final_suspend() const noexcept { return {}; }
      void return_void() const noexcept {}
      [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    };
  };
  static Detached run_detached(TaskGroup& group, Task<void> task) {
    {
      // Moved in, so that the task's frame is gone before the group counts it as finished.
      Task<void> running = std::move(task);
      co_await std::move(running);
    }
    if (--group.running_ == 0 && group.joiner_) std::exchange(group.joiner_, nullptr).resume();
  }

  std::size_t running_ = 0;
  std::coroutine_handle<> joiner_ = nullptr;
};

}  // namespace qq
