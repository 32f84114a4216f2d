// A byte stream: TCP, TLS or simulated. The virtual part is non-blocking tries; the awaiters on top are
// concrete. One reading and one writing coroutine at a time. A stream lives and dies on its loop.
//
//   for (;;) {
//     const IoTry got = stream.try_read(loop.scratch());
//     if (got.status != IoStatus::WouldBlock) break;
//     const Wake wake = co_await stream.readable(scope);
//     if (wake != Wake::Ready) ...
//   }
//
// Idle streams hold no read buffer: read into the loop's scratch, which is valid until the next suspension.
#pragma once
#include <sys/uio.h>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "net/address.h"
#include "net/wait.h"

namespace qq::net {

enum class IoStatus : std::uint8_t {
  Done,        // `bytes` > 0 were moved
  WouldBlock,  // wait for readable() or writable()
  Closed,      // orderly end (FIN, close_notify); reading only
  Failed,      // `error` is an errno: ECONNRESET, EPIPE, EPROTO for a TLS failure
};

struct IoTry {
  IoStatus status = IoStatus::WouldBlock;
  std::size_t bytes = 0;
  int error = 0;
};

// For gathered writes, which only read what they are given.
inline iovec as_iovec(std::string_view bytes) noexcept {
  return {const_cast<char*>(bytes.data()), bytes.size()};
}

class Stream {
 public:
  explicit Stream(EventLoop& loop) noexcept : loop_(loop) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream();  // closes; nobody may be waiting

  virtual IoTry try_read(std::span<char> into) noexcept = 0;
  // One gathered write (sendmsg). May take only a part. What is small may leave at the end of the loop's turn
  // only; an error is then told by the next read or write. As with the kernel's own buffer, bytes that were
  // taken have not arrived.
  virtual IoTry try_write(std::span<const iovec> pieces) noexcept = 0;
  // Before a close that must not lose what was taken: whether the kernel has all of it (or the connection is
  // broken). If not, wait for writable() and ask again.
  [[nodiscard]] virtual bool settle() noexcept { return true; }
  // How many of the bytes sent the peer has acknowledged (of TLS's own, where it is TLS): a figure to compare
  // with an earlier one. It tells a peer that takes bytes slowly from one that takes none, which look alike
  // to who waits for writable(): the kernel says that there is room when a third of its buffer is free, and
  // that may be megabytes. A system call.
  [[nodiscard]] virtual std::uint64_t acknowledged() noexcept = 0;
  // FIN (and close_notify); reading goes on.
  virtual void shutdown_write() noexcept = 0;
  // Makes the close a reset (SO_LINGER 0) where there is a real socket.
  virtual void set_reset_on_close() noexcept = 0;
  // A relaxed stream is one of many that flow: its readiness may be told a millisecond late, so that
  // several are handled in one batch. Where that brings nothing it does nothing.
  virtual void set_relaxed(bool /*relaxed*/) noexcept {}
  [[nodiscard]] virtual Address peer() const = 0;
  [[nodiscard]] virtual bool is_tls() const noexcept { return false; }

  class ReadyAwaiter {
   public:
    ReadyAwaiter(Stream& stream, bool reading, Scope scope) noexcept
        : stream_(stream), waiter_(stream.loop_), scope_(scope), reading_(reading) {}
    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> handle) noexcept;
    [[nodiscard]] Wake await_resume() const noexcept { return immediate_ ? ready_ : waiter_.wake(); }

   private:
    Stream& stream_;
    Waiter waiter_;
    Scope scope_;
    bool reading_;
    bool immediate_ = false;
    Wake ready_ = Wake::Ready;
  };
  // Until try_read (try_write) is worth calling. Spurious wake-ups happen. An end or error is Ready too.
  ReadyAwaiter readable(Scope scope) noexcept { return {*this, true, scope}; }
  ReadyAwaiter writable(Scope scope) noexcept { return {*this, false, scope}; }

  // From now on a FIN or reset of the peer cancels `cancel` with `why`, also when nobody reads. Null ends
  // the watch. If it has hung up already, it cancels at once.
  void watch_hangup(Cancellation* cancel, ErrorKind why = ErrorKind::ClientGone) noexcept;
  // The peer sent FIN or reset. Unread bytes may still be there.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }
  // Whether bytes, an end or an error may wait to be read (cached readiness; no system call).
  [[nodiscard]] bool maybe_readable() const noexcept { return readable_; }

  [[nodiscard]] EventLoop& loop() const noexcept { return loop_; }

 protected:
  // For implementations: what the poller saw.
  void became_readable() noexcept;
  // The same where no coroutine may run now: the reading one wakes after the turn.
  void became_readable_later() noexcept;
  void became_writable() noexcept;
  void became_hung_up() noexcept;
  // For a layer on top of another stream (TLS): the lower one tells the upper one through these. The upper
  // one may be destroyed inside.
  void put_above(Stream& below) noexcept { below.above_ = this; }
  virtual void below_became_readable() noexcept { became_readable(); }
  virtual void below_became_writable() noexcept { became_writable(); }

  EventLoop& loop_;
  Stream* above_ = nullptr;
  Waiter* read_waiter_ = nullptr;
  Waiter* write_waiter_ = nullptr;
  Cancellation* hangup_cancel_ = nullptr;
  ErrorKind hangup_reason_ = ErrorKind::ClientGone;
  bool readable_ = false;
  bool writable_ = true;
  bool hung_up_ = false;
};

}  // namespace qq::net
