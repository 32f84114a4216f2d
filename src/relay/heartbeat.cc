#include "relay/heartbeat.h"

namespace qq::relay {

Heartbeat::BeatTimer::BeatTimer(Heartbeat& owner) noexcept
    : net::Timer([](net::Timer& timer) noexcept { static_cast<BeatTimer&>(timer).heartbeat.beat(); }),
      heartbeat(owner) {}

Heartbeat::Heartbeat(net::EventLoop& loop, ClientPort& client, Milliseconds every, std::string header_lines,
                     std::string_view words)
    : loop_(loop),
      client_(client),
      every_(every),
      header_lines_(std::move(header_lines)),
      words_(words),
      last_write_(loop.now()),
      timer_(*this) {}

Heartbeat::~Heartbeat() {
  stop();
}

void Heartbeat::start() {
  if (every_ > Milliseconds{0}) loop_.arm(timer_, last_write_ + every_);
}

void Heartbeat::stop() noexcept {
  if (timer_.armed()) loop_.disarm(timer_);
}

void Heartbeat::beat() noexcept {
  const MonotonicTime now = loop_.now();
  // Writes only move `last_write_`; the timer catches up here, so that an event costs no re-arming.
  if (now - last_write_ >= every_) {
    if (!client_.pending()) {
      if (!client_.begun()) client_.begin(200, std::move(header_lines_));
      client_.write({&words_, 1}, ClientPort::Last::No);
    }
    last_write_ = now;
  }
  loop_.arm(timer_, last_write_ + every_);
}

}  // namespace qq::relay
