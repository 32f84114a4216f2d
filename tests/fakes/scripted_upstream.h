// A server of few words for what the simulated provider cannot do: each connection is served by a coroutine
// of the test, byte by byte.
#pragma once
#include <memory>
#include <string>

#include "base/task.h"
#include "net/event_loop.h"
#include "net/tls.h"

namespace qq::fakes {

class ScriptedUpstream {
 public:
  // One connection. The stream closes when it returns.
  using Script = Task<void> (*)(ScriptedUpstream& server, net::Stream& stream);

  ScriptedUpstream(net::EventLoop& loop, const net::Address& address, Script script,
                   std::shared_ptr<net::TlsServerContext> tls = nullptr)
      : loop_(loop), script_(script), tls_(std::move(tls)) {
    net::ListenOptions options;
    options.address = address;
    auto listening = loop_.listen(options, [this](net::AcceptedSocket socket) {
      ++connections_;
      tasks_.spawn(serve(*this, loop_.adopt(std::move(socket))));
    });
    QQ_ASSERT(listening.has_value());
    listener_ = *std::move(listening);
  }
  ~ScriptedUpstream() { QQ_ASSERT(tasks_.running() == 0); }
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  [[nodiscard]] net::EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] const std::string& received() const noexcept { return received_; }
  [[nodiscard]] bool idle() const noexcept { return tasks_.running() == 0; }

  // Appends to `received` until it holds `bytes` bytes; false at the end of the connection.
  static Task<bool> read_to(ScriptedUpstream& server, net::Stream& stream, std::size_t bytes) {
    return read_into(server, stream, server.received_, bytes);
  }
  // The same with a text of the connection's own, where there are several at a time.
  static Task<bool> read_into(ScriptedUpstream& server, net::Stream& stream, std::string& into,
                              std::size_t bytes) {
    while (into.size() < bytes) {
      const std::span<char> scratch = server.loop_.scratch();
      const net::IoTry got = stream.try_read(scratch.first(std::min(scratch.size(), bytes - into.size())));
      if (got.status == net::IoStatus::Done) {
        into.append(scratch.data(), got.bytes);
        continue;
      }
      if (got.status != net::IoStatus::WouldBlock) co_return false;
      const net::Scope scope;
      const net::Wake wake = co_await stream.readable(scope);
      if (wake != net::Wake::Ready) co_return false;
    }
    co_return true;
  }
  static Task<bool> write(net::Stream& stream, std::string bytes) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const iovec piece = net::as_iovec(rest);
      const net::IoTry wrote = stream.try_write({&piece, 1});
      if (wrote.status == net::IoStatus::Failed || wrote.status == net::IoStatus::Closed) co_return false;
      rest.remove_prefix(wrote.bytes);
      if (rest.empty()) break;
      const net::Scope scope;
      const net::Wake wake = co_await stream.writable(scope);
      if (wake != net::Wake::Ready) co_return false;
    }
    co_return true;
  }
  static Task<void> pause(ScriptedUpstream& server, Milliseconds time) {
    const net::Scope scope{server.loop_.now() + time, nullptr};
    static_cast<void>(co_await net::sleep(server.loop_, scope));
  }

 private:
  static Task<void> serve(ScriptedUpstream& server, std::unique_ptr<net::Stream> stream) {
    if (server.tls_) {
      const net::Scope scope;
      auto shaken = co_await net::tls_accept(std::move(stream), server.tls_, scope);
      if (!shaken) co_return;
      stream = *std::move(shaken);
    }
    co_await server.script_(server, *stream);
  }

  net::EventLoop& loop_;
  Script script_;
  std::shared_ptr<net::TlsServerContext> tls_;
  std::unique_ptr<net::Listener> listener_;
  std::string received_;
  int connections_ = 0;
  TaskGroup tasks_;
};

}  // namespace qq::fakes
