// A TCP connection on an EpollLoop. It is registered once, edge-triggered, for both directions; what the
// kernel said last is cached, so that no call is made to learn that there is nothing to do: a read that
// brought less than was asked has drained the socket (unless the end is already known to follow), and a write
// that took less than was offered has filled it. Small writes are held back until the end of the turn
// (held_sends.h); what the kernel then does not take, a few kilobytes at most, is kept here until it does.
// For the files of net/ only.
#pragma once
#include <string>

#include "net/epoll_loop.h"
#include "net/stream.h"

namespace qq::net {

class TcpStream final : public Stream, private PollTarget {
 public:
  enum class State : std::uint8_t { Connecting, Connected };
  // Takes over `fd`, which is non-blocking. If it cannot be registered, the stream only fails.
  TcpStream(EpollLoop& loop, int fd, Address peer, State state) noexcept;
  ~TcpStream() override;

  IoTry try_read(std::span<char> into) noexcept override;
  IoTry try_write(std::span<const iovec> pieces) noexcept override;
  [[nodiscard]] bool settle() noexcept override;
  [[nodiscard]] std::uint64_t acknowledged() noexcept override;
  void shutdown_write() noexcept override;
  void set_reset_on_close() noexcept override;
  void set_relaxed(bool relaxed) noexcept override;
  [[nodiscard]] Address peer() const override { return peer_; }

  // The outcome of connect(2), once the stream is writable: an errno, or 0.
  [[nodiscard]] int connect_error() noexcept;

  // For HeldSends, at the end of the turn.
  void send_held() noexcept;

 private:
  void on_events(std::uint32_t events) noexcept override;
  IoTry broken(int error) noexcept;
  IoTry send(std::span<const iovec> pieces, std::size_t offered) noexcept;
  void send_unsent() noexcept;

  [[nodiscard]] EpollLoop& epoll_loop() const noexcept { return static_cast<EpollLoop&>(loop_); }

  Poller::Token token_;
  int fd_;
  std::uint32_t held_ = 0;   // where HeldSends has bytes of this stream; 0 is nowhere
  bool fin_wanted_ = false;  // behind what is unsent
  int error_ = 0;            // what broke the connection, also when a write met it first
  Address peer_;
  std::uint64_t sent_ = 0;  // with the kernel so far
  std::string unsent_;      // taken by try_write, refused by the kernel so far
};

}  // namespace qq::net
