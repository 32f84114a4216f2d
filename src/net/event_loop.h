// One event loop per worker thread: streams, timers, names, and posts from other threads. Two
// implementations: EpollLoop (epoll_loop.h, the real one) and SimulatedLoop (simulated_loop.h: sockets in
// memory, virtual time). Nothing above net/ names epoll, OpenSSL or c-ares.
//
// Threading: everything but `post` and `stop` belongs to the loop's thread.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "base/time.h"
#include "net/address.h"
#include "net/stream.h"
#include "net/wait.h"

namespace qq::net {

// A connection that was accepted but not yet given to a loop; may be moved to another loop's thread.
class AcceptedSocket {
 public:
  // How to close what nobody adopted; `fd` is a descriptor unless the loop is simulated.
  using Close = void (*)(void* owner, int fd) noexcept;
  AcceptedSocket(int fd, Address peer) noexcept : fd_(fd), peer_(peer) {}
  AcceptedSocket(int fd, Address peer, void* owner, Close close) noexcept
      : fd_(fd), peer_(peer), owner_(owner), close_(close) {}
  AcceptedSocket(AcceptedSocket&& other) noexcept;
  AcceptedSocket& operator=(AcceptedSocket&& other) noexcept;
  AcceptedSocket(const AcceptedSocket&) = delete;
  ~AcceptedSocket();  // closes what was not released
  [[nodiscard]] int release() noexcept;
  [[nodiscard]] const Address& peer() const noexcept { return peer_; }

 private:
  void discard() noexcept;

  int fd_;
  Address peer_;
  void* owner_ = nullptr;
  Close close_ = nullptr;
};

struct ListenOptions {
  Address address;
  int backlog = 4096;
  // Sent to a connection that could be accepted only with the spare descriptor (EMFILE), before it is
  // closed; a literal.
  std::string_view out_of_descriptors_reply;
};

// A listening socket; closes when the last that share it are destroyed, each on its loop and not inside its
// own `accepted` call. It may be shared by several loops (see `share`).
class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual Address local() const = 0;  // with the real port when 0 was asked
};

class EventLoop {
 public:
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  virtual ~EventLoop() = default;

  // The time at the start of the current batch of events.
  [[nodiscard]] virtual MonotonicTime now() const noexcept = 0;
  // The time this instant; for measuring inside a batch.
  [[nodiscard]] virtual MonotonicTime precise_now() const noexcept = 0;
  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;

  // Re-arming an armed timer moves it.
  virtual void arm(Timer& timer, MonotonicTime when) noexcept = 0;
  virtual void disarm(Timer& timer) noexcept = 0;

  // Runs `function` on the loop's thread, soon. Thread-safe. False after the loop has stopped.
  virtual bool post(std::move_only_function<void()> function) = 0;
  // Resumes `handle` after the current batch; bounces long chains of awaits that complete at once.
  virtual void resume_later(std::coroutine_handle<> handle) = 0;
  // For Waiter: queue it for a wake-up after the batch, or take it out again.
  virtual void queue(Waiter& waiter) noexcept = 0;
  virtual void unqueue(Waiter& waiter) noexcept = 0;

  // Connects to one address. Errors: ConnectFailed, ConnectTimeout (the scope's deadline), Cancelled or
  // the cancellation's reason. TCP_NODELAY is set.
  virtual Task<Result<std::unique_ptr<Stream>>> connect(Address address, Scope scope) = 0;
  // Resolves a name (numeric text needs no DNS): at least one address, IPv4 and IPv6 interleaved. Answers
  // are cached for their TTL (capped at 60 s); while DNS fails, an answer up to an hour old is used.
  // Errors: DnsFailed, or the cancellation's reason.
  virtual Task<Result<std::vector<Address>>> resolve(std::string host, std::uint16_t port, Scope scope) = 0;
  // The same of a name that a stranger made up: the answer is not kept, so that such names push none of the
  // others out.
  virtual Task<Result<std::vector<Address>>> resolve_once(std::string host, std::uint16_t port, Scope scope) {
    return resolve(std::move(host), port, scope);
  }

  // Listens; `accepted` is called on this loop's thread for each new connection.
  using Accepted = std::move_only_function<void(AcceptedSocket)>;
  virtual Result<std::unique_ptr<Listener>> listen(const ListenOptions& options, Accepted accepted) = 0;
  // Also accepts from a listener of another loop of the same kind (EPOLLEXCLUSIVE).
  virtual Result<std::unique_ptr<Listener>> share(Listener& listener, Accepted accepted) = 0;
  // Who can do without some descriptors: asked, on this loop's thread, before a connection is refused for
  // lack of one. False: nothing was given back. Set before anything listens; must not throw away a listener.
  using GiveBack = std::move_only_function<bool()>;
  void when_short_of_descriptors(GiveBack give_back) noexcept { give_back_ = std::move(give_back); }
  // Makes an accepted connection a stream of this loop.
  virtual std::unique_ptr<Stream> adopt(AcceptedSocket socket) = 0;

  // The thread's read buffer, 64 KiB; its contents are valid until the next suspension.
  [[nodiscard]] virtual std::span<char> scratch() noexcept = 0;

  // Runs until `stop`. Thread-safe stop.
  virtual void run() = 0;
  virtual void stop() noexcept = 0;

  // How late the loop is: the longest batch seen since the last call. For the lag metric.
  [[nodiscard]] virtual std::chrono::nanoseconds take_worst_batch() noexcept = 0;

  // For listeners.
  [[nodiscard]] bool give_descriptors_back() { return give_back_ && give_back_(); }

 private:
  GiveBack give_back_;
};

}  // namespace qq::net
