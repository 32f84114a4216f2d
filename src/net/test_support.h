// What the tests of streams share; works on any EventLoop. For tests only.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/event_loop.h"

namespace qq::net::testing {

inline Scope within(EventLoop& loop, std::chrono::milliseconds time, Cancellation* cancel = nullptr) {
  return {loop.now() + time, cancel};
}
// Long enough never to matter; a test that runs into it fails instead of hanging.
inline Scope patiently(EventLoop& loop) {
  return within(loop, std::chrono::seconds(60));
}

inline Scope until_cancelled(Cancellation& cancel) {
  return {kNever, &cancel};
}
// The loop's own sleep, which is no sleep of a thread and takes no time on the simulated loop.
inline SleepAwaiter time_passes(EventLoop& loop, Scope scope) {
  return sleep(loop, scope);
}

// Lets the loop begin a new batch.
struct Bounce {
  EventLoop& loop;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { loop.resume_later(handle); }
  void await_resume() const noexcept {}
};

inline Task<void> run_then_stop(EventLoop& loop, Task<void> body) {
  co_await Bounce{loop};
  co_await std::move(body);
  loop.stop();
}

// Runs the loop until `body` is done.
inline void run_task(EventLoop& loop, Task<void> body) {
  TaskGroup group;
  group.spawn(run_then_stop(loop, std::move(body)));
  loop.run();
}

struct StreamPair {
  std::unique_ptr<Stream> client;
  std::unique_ptr<Stream> server;
};

// Two ends of one connection through a listener of the loop.
inline Task<StreamPair> connected_pair(EventLoop& loop) {
  StreamPair pair;
  Signal accepted(loop);
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener = loop.listen(options, [&](AcceptedSocket socket) {
    pair.server = loop.adopt(std::move(socket));
    accepted.set();
  });
  const Address address = listener.value()->local();
  auto client = co_await loop.connect(address, patiently(loop));
  pair.client = std::move(client).value();
  static_cast<void>(co_await accepted.wait(patiently(loop)));
  co_return pair;
}

inline IoTry write_now(Stream& stream, std::string_view bytes) {
  const iovec piece = as_iovec(bytes);
  return stream.try_write(std::span(&piece, 1));
}

struct Written {
  Wake wake = Wake::Ready;
  IoStatus status = IoStatus::Done;
  std::size_t bytes = 0;
};

inline Task<Written> write_all(Stream& stream, std::string_view bytes, Scope scope) {
  Written result;
  while (result.bytes < bytes.size()) {
    const IoTry tried = write_now(stream, bytes.substr(result.bytes));
    result.status = tried.status;
    if (tried.status == IoStatus::Failed) break;
    result.bytes += tried.bytes;
    if (tried.status == IoStatus::WouldBlock) {
      result.wake = co_await stream.writable(scope);
      if (result.wake != Wake::Ready) break;
    }
  }
  co_return result;
}

struct Got {
  Wake wake = Wake::Ready;
  IoStatus status = IoStatus::Done;
  int error = 0;
  std::string bytes;
};

// Reads until `enough` bytes, the end, an error, or the scope's end.
inline Task<Got> read_until(Stream& stream, std::size_t enough, Scope scope) {
  Got got;
  while (got.bytes.size() < enough) {
    const std::span<char> scratch = stream.loop().scratch();
    const IoTry tried = stream.try_read(scratch.first(std::min(scratch.size(), enough - got.bytes.size())));
    got.status = tried.status;
    got.error = tried.error;
    if (tried.status == IoStatus::Closed || tried.status == IoStatus::Failed) break;
    got.bytes.append(scratch.data(), tried.bytes);
    if (tried.status == IoStatus::WouldBlock) {
      got.wake = co_await stream.readable(scope);
      if (got.wake != Wake::Ready) break;
    }
  }
  co_return got;
}

inline Task<Got> read_to_end(Stream& stream, Scope scope) {
  return read_until(stream, std::string::npos, scope);
}

// Not compressible into a pattern that hides shifted or repeated pieces.
inline std::string noise(std::size_t bytes, std::uint32_t seed = 1) {
  std::string text(bytes, '\0');
  std::uint32_t x = seed * 2654435761U + 1;
  for (char& c : text) {
    x ^= x << 13U;
    x ^= x >> 17U;
    x ^= x << 5U;
    c = static_cast<char>(x & 0xffU);
  }
  return text;
}

}  // namespace qq::net::testing
