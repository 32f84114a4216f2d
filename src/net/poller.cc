#include "net/poller.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/assert.h"

namespace qq::net {
namespace {

std::uint64_t pack(Poller::Token token) noexcept {
  return std::uint64_t{token.generation} << 32U | static_cast<std::uint32_t>(token.fd);
}

Poller::Token unpack(std::uint64_t data) noexcept {
  return {static_cast<int>(data & 0xffffffffU), static_cast<std::uint32_t>(data >> 32U)};
}

}  // namespace

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

Poller::~Poller() {
  if (relaxed_fd_ >= 0) ::close(relaxed_fd_);
  ::close(fd_);
}

int Poller::add(int fd, std::uint32_t events, PollTarget& target, Token& token) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= entries_.size()) entries_.resize(std::max(index + 1, entries_.size() * 2));
  Entry& entry = entries_[index];
  const Token fresh{fd, entry.generation + 1};
  epoll_event event{};
  event.events = events;
  event.data.u64 = pack(fresh);
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) return errno;
  entry = {&target, fresh.generation, false};
  token = fresh;
  return 0;
}

int Poller::modify(Token token, std::uint32_t events) noexcept {
  QQ_ASSERT(alive(token));
  epoll_event event{};
  event.events = events;
  event.data.u64 = pack(token);
  const Entry& entry = entries_[static_cast<std::size_t>(token.fd)];
  return epoll_ctl(set_of(entry), EPOLL_CTL_MOD, token.fd, &event) == 0 ? 0 : errno;
}

bool Poller::alive(Token token) const noexcept {
  const auto index = static_cast<std::size_t>(token.fd);
  return token.fd >= 0 && index < entries_.size() && entries_[index].target != nullptr &&
         entries_[index].generation == token.generation;
}

void Poller::forget(Token token) noexcept {
  if (alive(token)) entries_[static_cast<std::size_t>(token.fd)].target = nullptr;
}

void Poller::remove(Token token) noexcept {
  if (!alive(token)) return;
  epoll_ctl(set_of(entries_[static_cast<std::size_t>(token.fd)]), EPOLL_CTL_DEL, token.fd, nullptr);
  forget(token);
}

int Poller::wait(std::chrono::nanoseconds timeout) noexcept {
  using std::chrono::milliseconds;
  int count = -1;
  const bool fine = timeout > std::chrono::nanoseconds{0} && timeout < milliseconds{10} && has_pwait2_;
  if (fine) {
    const timespec wait{0, timeout.count()};
    count = epoll_pwait2(fd_, events_.data(), kBatchMax, &wait, nullptr);
    // A kernel or a sandbox that does not know the call: milliseconds are good enough.
    if (count < 0 && errno != EINTR) has_pwait2_ = false;
  }
  if (!fine || !has_pwait2_) {
    const auto rounded =
        timeout < std::chrono::nanoseconds{0} ? -1 : std::chrono::ceil<milliseconds>(timeout).count();
    count = epoll_wait(fd_, events_.data(), kBatchMax, static_cast<int>(rounded));
  }
  QQ_ASSERT(count >= 0 || errno == EINTR);
  return std::max(count, 0);
}

int Poller::open_relaxed(PollTarget& target, Token& token) noexcept {
  relaxed_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (relaxed_fd_ < 0) return errno;
  const int error = add(relaxed_fd_, EPOLLIN, target, token);
  if (error != 0) ::close(std::exchange(relaxed_fd_, -1));
  return error;
}

void Poller::set_relaxed(Token token, std::uint32_t events, bool relaxed) noexcept {
  if (relaxed_fd_ < 0 || !alive(token)) return;
  Entry& entry = entries_[static_cast<std::size_t>(token.fd)];
  if (entry.relaxed == relaxed) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = pack(token);
  // Into the new set first: what is ready already is an event there, so none is lost between the two.
  if (epoll_ctl(relaxed ? relaxed_fd_ : fd_, EPOLL_CTL_ADD, token.fd, &event) != 0) return;
  epoll_ctl(set_of(entry), EPOLL_CTL_DEL, token.fd, nullptr);
  entry.relaxed = relaxed;
}

int Poller::fetch_relaxed() noexcept {
  const int count = epoll_wait(relaxed_fd_, events_.data(), kBatchMax, 0);
  return std::max(count, 0);
}

void Poller::dispatch(int count) noexcept {
  for (int i = 0; i < count; ++i) {
    const epoll_event event = events_[static_cast<std::size_t>(i)];
    const Token token = unpack(event.data.u64);
    if (alive(token)) entries_[static_cast<std::size_t>(token.fd)].target->on_events(event.events);
  }
}

}  // namespace qq::net
