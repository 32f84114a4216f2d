// The epoll set of one loop. A descriptor is registered once and found again by its number and a generation,
// so that an event that was fetched before its target was destroyed is dropped, also when the number has been
// used again meanwhile. For the files of net/ only.
#pragma once
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace qq::net {

class PollTarget {
 public:
  // `events` are the EPOLL* bits. The target may be destroyed inside.
  virtual void on_events(std::uint32_t events) noexcept = 0;

 protected:
  ~PollTarget() = default;
};

class Poller {
 public:
  // Which registration of which descriptor.
  struct Token {
    int fd = -1;
    std::uint32_t generation = 0;
  };

  Poller();  // throws std::system_error
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  // An errno, or 0.
  int add(int fd, std::uint32_t events, PollTarget& target, Token& token) noexcept;
  int modify(Token token, std::uint32_t events) noexcept;
  // Forgets the registration. The caller closes the descriptor at once, which takes it out of the kernel's
  // set without a system call of its own; otherwise it uses `remove`.
  void forget(Token token) noexcept;
  void remove(Token token) noexcept;
  [[nodiscard]] bool alive(Token token) const noexcept;

  // Waits for at most `timeout_ms` (-1: for ever) and returns how many events came.
  int wait(int timeout_ms) noexcept;
  void dispatch(int count) noexcept;

 private:
  struct Entry {
    PollTarget* target = nullptr;
    std::uint32_t generation = 0;
  };

  int fd_;
  std::vector<Entry> entries_;  // by descriptor
  std::array<epoll_event, 256> events_{};
};

}  // namespace qq::net
