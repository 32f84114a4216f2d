// A TCP connection on an EpollLoop. It is registered once, edge-triggered, for both directions; what the
// kernel said last is cached, so that no call is made to learn that there is nothing to do: a read that
// brought less than was asked has drained the socket (unless the end is already known to follow), and a write
// that took less than was offered has filled it. For the files of net/ only.
#pragma once
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
  void shutdown_write() noexcept override;
  void set_reset_on_close() noexcept override;
  void set_relaxed(bool relaxed) noexcept override;
  [[nodiscard]] Address peer() const override { return peer_; }

  // The outcome of connect(2), once the stream is writable: an errno, or 0.
  [[nodiscard]] int connect_error() noexcept;

 private:
  void on_events(std::uint32_t events) noexcept override;
  IoTry broken(int error) noexcept;

  [[nodiscard]] EpollLoop& epoll_loop() const noexcept { return static_cast<EpollLoop&>(loop_); }

  Poller::Token token_;
  int fd_;
  int error_ = 0;  // what broke the connection, also when a write met it first
  Address peer_;
};

}  // namespace qq::net
