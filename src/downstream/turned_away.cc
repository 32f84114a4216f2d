#include "downstream/turned_away.h"

namespace qq::downstream {
namespace {

constexpr Milliseconds kLookEvery{100};
// Of 64 KiB each: who sends on and on is not heard out.
constexpr int kReadsMost = 4;

}  // namespace

TurnedAway::LookTimer::LookTimer(TurnedAway& turned_away) noexcept
    : net::Timer([](net::Timer& timer) noexcept { static_cast<LookTimer&>(timer).owner.look(); }),
      owner(turned_away) {}

TurnedAway::TurnedAway(net::EventLoop& loop) noexcept : loop_(loop), timer_(*this) {}

void TurnedAway::add(std::unique_ptr<net::Stream> stream, std::string_view reply, std::size_t most) {
  const iovec piece = net::as_iovec(reply);
  if (stream->try_write({&piece, 1}).status != net::IoStatus::Done) return;
  stream->shutdown_write();
  if (has_closed(*stream)) return;
  if (waiting_.size() >= most) waiting_.pop_front();
  waiting_.push_back({std::move(stream), loop_.now() + kWait});
  if (!timer_.armed()) loop_.arm(timer_, loop_.now() + kLookEvery);
}

void TurnedAway::clear() noexcept {
  if (timer_.armed()) loop_.disarm(timer_);
  waiting_.clear();
}

bool TurnedAway::has_closed(net::Stream& stream) noexcept {
  for (int i = 0; i < kReadsMost; ++i) {
    const net::IoTry got = stream.try_read(loop_.scratch());
    if (got.status == net::IoStatus::WouldBlock) return false;
    if (got.status != net::IoStatus::Done) return true;
  }
  return false;
}

void TurnedAway::look() noexcept {
  const MonotonicTime now = loop_.now();
  std::erase_if(waiting_,
                [&](Waiting& waiting) { return has_closed(*waiting.stream) || now >= waiting.until; });
  if (!waiting_.empty()) loop_.arm(timer_, now + kLookEvery);
}

}  // namespace qq::downstream
