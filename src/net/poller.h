// The epoll set of one loop. A descriptor is registered once and found again by its number and a generation,
// so that an event that was fetched before its target was destroyed is dropped, also when the number has been
// used again meanwhile. For the files of net/ only.
#pragma once
#include <sys/epoll.h>

#include <array>
#include <chrono>
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

  // Waits for at most `timeout` (kForEver: without end) and returns how many events came.
  static constexpr std::chrono::nanoseconds kForEver{-1};
  int wait(std::chrono::nanoseconds timeout) noexcept;
  void dispatch(int count) noexcept;

  // The relaxed set: descriptors whose events are fetched by `fetch_relaxed` only. It is a second epoll set
  // inside the first one, where it is a descriptor like any other.
  int open_relaxed(PollTarget& target, Token& token) noexcept;  // an errno, or 0
  // Moves a registration into the relaxed set or back; it stays where it is when the kernel refuses.
  void set_relaxed(Token token, std::uint32_t events, bool relaxed) noexcept;
  // The relaxed events that are there now, for `dispatch`.
  int fetch_relaxed() noexcept;
  [[nodiscard]] static constexpr int batch_max() noexcept { return kBatchMax; }

 private:
  static constexpr int kBatchMax = 256;
  struct Entry {
    PollTarget* target = nullptr;
    std::uint32_t generation = 0;
    bool relaxed = false;
  };
  [[nodiscard]] int set_of(const Entry& entry) const noexcept { return entry.relaxed ? relaxed_fd_ : fd_; }

  int fd_;
  int relaxed_fd_ = -1;
  bool has_pwait2_ = true;      // Linux 5.11
  std::vector<Entry> entries_;  // by descriptor
  std::array<epoll_event, kBatchMax> events_{};
};

}  // namespace qq::net
