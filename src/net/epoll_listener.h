// A listening socket and the loops that accept from it. Each loop waits with EPOLLEXCLUSIVE, so that a new
// connection wakes one of them and not all. For the files of net/ only.
//
// When descriptors run out, whoever has some to give back is asked first (EventLoop); then a spare one is
// given up for a moment to take the connection, tell it so and close it: otherwise the connection would stay
// in the backlog and wake the loop for ever. When even that fails, the listener pauses.
#pragma once
#include "net/event_loop.h"
#include "net/poller.h"

namespace qq::net {

class EpollLoop;

// The descriptor, shared by the listeners of several threads; immutable.
class ListenSocket {
 public:
  static Result<std::shared_ptr<const ListenSocket>> open(const ListenOptions& options);
  ListenSocket(int fd, Address local, std::string_view reply) noexcept
      : fd_(fd), local_(local), out_of_descriptors_reply_(reply) {}
  ListenSocket(const ListenSocket&) = delete;
  ListenSocket& operator=(const ListenSocket&) = delete;
  ~ListenSocket();

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] const Address& local() const noexcept { return local_; }
  [[nodiscard]] std::string_view out_of_descriptors_reply() const noexcept {
    return out_of_descriptors_reply_;
  }

 private:
  int fd_;
  Address local_;
  std::string_view out_of_descriptors_reply_;
};

class EpollListener final : public Listener, private PollTarget, private Timer {
 public:
  static Result<std::unique_ptr<Listener>> make(EpollLoop& loop, std::shared_ptr<const ListenSocket> socket,
                                                EventLoop::Accepted accepted);
  EpollListener(EpollLoop& loop, std::shared_ptr<const ListenSocket> socket, EventLoop::Accepted accepted);
  ~EpollListener();

  [[nodiscard]] Address local() const override { return socket_->local(); }
  [[nodiscard]] const std::shared_ptr<const ListenSocket>& socket() const noexcept { return socket_; }

 private:
  enum class Refusal : std::uint8_t { Refused, NothingThere, Impossible };

  int start() noexcept;
  void on_events(std::uint32_t events) noexcept override;
  [[nodiscard]] bool is_asked() const noexcept;
  Refusal refuse_one() noexcept;
  void pause() noexcept;
  static void resume(Timer& timer) noexcept;

  EpollLoop& loop_;
  std::shared_ptr<const ListenSocket> socket_;
  EventLoop::Accepted accepted_;
  Poller::Token token_;
  int spare_ = -1;
};

}  // namespace qq::net
