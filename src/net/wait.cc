#include "net/wait.h"

#include <utility>

#include "net/event_loop.h"

namespace qq::net {

Waiter::Waiter(EventLoop& loop) noexcept : Timer(&Waiter::deadline_passed), loop_(loop) {}

Waiter::~Waiter() {
  if (handle_) release();
  if (queued_) loop_.unqueue(*this);
}

void Waiter::deadline_passed(Timer& timer) noexcept {
  static_cast<Waiter&>(timer).fire(Wake::Deadline);
}

void Waiter::suspend(std::coroutine_handle<> handle, Waiter*& slot, const Scope& scope) noexcept {
  QQ_ASSERT(slot == nullptr);  // one coroutine waits at a source
  handle_ = handle;
  slot = this;
  source_ = &slot;
  if (scope.deadline != kNever) loop_.arm(*this, scope.deadline);
  if (scope.cancel != nullptr) {
    cancel_ = scope.cancel;
    before_ = nullptr;
    after_ = cancel_->first_;
    if (after_ != nullptr) after_->before_ = this;
    cancel_->first_ = this;
  }
}

void Waiter::release() noexcept {
  if (source_ != nullptr) *std::exchange(source_, nullptr) = nullptr;
  if (armed()) loop_.disarm(*this);
  if (cancel_ != nullptr) {
    (before_ != nullptr ? before_->after_ : cancel_->first_) = after_;
    if (after_ != nullptr) after_->before_ = before_;
    before_ = after_ = nullptr;
    cancel_ = nullptr;
  }
}

void Waiter::fire(Wake wake) noexcept {
  if (!handle_ || queued_) return;
  release();
  wake_ = wake;
  std::exchange(handle_, nullptr).resume();
}

void Waiter::fire_later(Wake wake) noexcept {
  if (!handle_ || queued_) return;
  release();
  wake_ = wake;
  loop_.queue(*this);
}

void WaiterQueue::push(Waiter& waiter) noexcept {
  waiter.queued_ = true;
  waiter.before_ = last_;
  waiter.after_ = nullptr;
  (last_ != nullptr ? last_->after_ : first_) = &waiter;
  last_ = &waiter;
}

void WaiterQueue::remove(Waiter& waiter) noexcept {
  (waiter.before_ != nullptr ? waiter.before_->after_ : first_) = waiter.after_;
  (waiter.after_ != nullptr ? waiter.after_->before_ : last_) = waiter.before_;
  waiter.before_ = waiter.after_ = nullptr;
  waiter.queued_ = false;
}

void WaiterQueue::wake_all() noexcept {
  // One at a time, as waking one may destroy others. The count bounds the round: a coroutine that is
  // queued again goes behind.
  std::size_t round = 0;
  for (const Waiter* waiter = first_; waiter != nullptr; waiter = waiter->after_) ++round;
  for (; round > 0 && first_ != nullptr; --round) {
    Waiter& waiter = *first_;
    remove(waiter);
    waiter.fire(waiter.wake_);
  }
}

Cancellation::~Cancellation() {
  QQ_ASSERT(first_ == nullptr);
}

void Cancellation::cancel(ErrorKind why) noexcept {
  if (cancelled_) return;
  cancelled_ = true;
  reason_ = why;
  while (first_ != nullptr) first_->fire_later(Wake::Cancelled);
}

std::optional<Wake> refuses_to_wait(EventLoop& loop, const Scope& scope) noexcept {
  if (scope.cancel != nullptr && scope.cancel->cancelled()) return Wake::Cancelled;
  if (scope.deadline != kNever && scope.deadline <= loop.now()) return Wake::Deadline;
  return std::nullopt;
}

Error cancelled_error(const Scope& scope, AttemptPhase phase) {
  const ErrorKind why = scope.cancel != nullptr ? scope.cancel->reason() : ErrorKind::Cancelled;
  const bool is_clients = why == ErrorKind::ClientGone || why == ErrorKind::ClientStalled;
  const std::string_view text = why == ErrorKind::ClientGone      ? "the client closed the connection"
                                : why == ErrorKind::ClientStalled ? "the client stopped reading"
                                                                  : "the request was given up";
  Error error(why, is_clients ? ErrorOrigin::Client : ErrorOrigin::Gateway, std::string(text));
  error.phase = phase;
  return error;
}

bool SleepAwaiter::await_ready() noexcept {
  if (const auto refused = refuses_to_wait(loop_, scope_)) {
    ready_ = *refused;
    wake_ready_ = true;
  }
  return wake_ready_;
}

void SleepAwaiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  waiter_.suspend(handle, slot_, scope_);
}

SleepAwaiter sleep(EventLoop& loop, Scope scope) noexcept {
  return SleepAwaiter(loop, scope);
}

void Signal::set() noexcept {
  set_ = true;
  if (waiter_ != nullptr) waiter_->fire_later(Wake::Ready);
}

Signal::Awaiter::Awaiter(Signal& signal, Scope scope) noexcept
    : signal_(signal), waiter_(signal.loop_), scope_(scope) {}

bool Signal::Awaiter::await_ready() noexcept {
  if (signal_.set_) {
    wake_ready_ = true;
  } else if (const auto refused = refuses_to_wait(signal_.loop_, scope_)) {
    ready_ = *refused;
    wake_ready_ = true;
  }
  return wake_ready_;
}

void Signal::Awaiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  waiter_.suspend(handle, signal_.waiter_, scope_);
}

}  // namespace qq::net
