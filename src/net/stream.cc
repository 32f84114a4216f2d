#include "net/stream.h"

#include "net/event_loop.h"

namespace qq::net {

Stream::~Stream() {
  QQ_ASSERT(read_waiter_ == nullptr && write_waiter_ == nullptr);
}

bool Stream::ReadyAwaiter::await_ready() noexcept {
  // The deadline goes before readiness: a peer that always has a byte ready must not outlive it.
  if (const auto refused = refuses_to_wait(stream_.loop_, scope_)) {
    ready_ = *refused;
    immediate_ = true;
  } else {
    immediate_ = reading_ ? stream_.readable_ : stream_.writable_;
  }
  return immediate_;
}

void Stream::ReadyAwaiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  waiter_.suspend(handle, reading_ ? stream_.read_waiter_ : stream_.write_waiter_, scope_);
}

void Stream::watch_hangup(Cancellation* cancel, ErrorKind why) noexcept {
  hangup_cancel_ = cancel;
  hangup_reason_ = why;
  if (hung_up_ && cancel != nullptr) cancel->cancel(why);
}

void Stream::became_readable() noexcept {
  readable_ = true;
  if (above_ != nullptr) return above_->below_became_readable();
  if (read_waiter_ != nullptr) read_waiter_->fire(Wake::Ready);
}

void Stream::became_readable_later() noexcept {
  readable_ = true;
  if (above_ != nullptr) return above_->became_readable_later();
  if (read_waiter_ != nullptr) read_waiter_->fire_later(Wake::Ready);
}

void Stream::became_writable() noexcept {
  writable_ = true;
  if (above_ != nullptr) return above_->below_became_writable();
  if (write_waiter_ != nullptr) write_waiter_->fire(Wake::Ready);
}

void Stream::became_hung_up() noexcept {
  hung_up_ = true;
  if (above_ != nullptr) above_->became_hung_up();
  if (hangup_cancel_ != nullptr) hangup_cancel_->cancel(hangup_reason_);
}

}  // namespace qq::net
