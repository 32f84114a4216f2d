#include "net/relaxed_events.h"

namespace qq::net {
namespace {

// Events that are further apart than this are told at once.
constexpr auto kClose = 2 * RelaxedEvents::kInterval;

}  // namespace

RelaxedEvents::RelaxedEvents(Poller& poller) noexcept : poller_(poller) {
  poller_.open_relaxed(*this, token_);
}

void RelaxedEvents::set_relaxed(Poller::Token token, std::uint32_t events, bool relaxed) noexcept {
  poller_.set_relaxed(token, events, relaxed);
}

void RelaxedEvents::set_wakes(bool wakes) noexcept {
  if (wakes_ != wakes && poller_.modify(token_, wakes ? std::uint32_t{EPOLLIN} : 0U) == 0) wakes_ = wakes;
}

void RelaxedEvents::look(MonotonicTime now) noexcept {
  if (!signalled_ && now < due_) return;
  signalled_ = false;
  const int events = poller_.fetch_relaxed();
  const bool closely = events > 1 || (events == 1 && now - last_ < kClose);
  if (events > 0) last_ = now;
  set_wakes(!closely);
  if (wakes_) {
    due_ = kNever;
  } else {
    due_ = events == Poller::batch_max() ? now : now + kInterval;
  }
  poller_.dispatch(events);
}

}  // namespace qq::net
