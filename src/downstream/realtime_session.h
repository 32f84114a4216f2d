// One client connection that asks for Realtime: an HTTP client until a provider has accepted, then the bytes
// of a WebSocket, which the relay reads and writes (relay/realtime.h).
#pragma once
#include <string>

#include "base/task.h"
#include "downstream/client_writer.h"
#include "downstream/realtime_opening.h"
#include "downstream/server.h"
#include "relay/request.h"
#include "relay/socket_port.h"

namespace qq::downstream {

class RealtimeSession final : public relay::SocketPort {
 public:
  // `out` has been told of no reply and lives longer, as does `stream`. `received`: what came behind the
  // head.
  RealtimeSession(Server& server, net::Stream& stream, ClientWriter& out, std::string reply_lines,
                  std::string received) noexcept
      : server_(server),
        stream_(stream),
        out_(out),
        reply_lines_(std::move(reply_lines)),
        received_(std::move(received)) {}

  // To the request's end, closing handshake included; then, if it was accepted, the stream is only to be
  // closed.
  Task<void> serve(relay::IncomingRequest incoming);
  [[nodiscard]] bool accepted() const noexcept { return accepted_; }

  // As of Connection, for what was accepted.
  void ask_to_finish() noexcept;
  void terminate() noexcept;

  Taken accept(std::string_view header_lines) override;
  Taken send(std::span<const std::string_view> frames) override { return out_.send_raw(frames); }
  void closed() noexcept override { closed_ = true; }
  std::string take_received() override { return std::exchange(received_, {}); }
  [[nodiscard]] net::Stream& stream() noexcept override { return stream_; }
  void watch(Watcher* watcher) noexcept override { watcher_ = watcher; }

  [[nodiscard]] net::Cancellation& gone() noexcept override { return out_.gone(); }
  Taken reply(int status, std::string_view header_lines, std::span<const std::string_view> body) override {
    return out_.reply(status, header_lines, body);
  }
  // There are no streams here.
  void begin(int status, std::string header_lines) override;
  Taken write(std::span<const std::string_view> pieces, Last last) override;
  void abort() noexcept override { out_.abort(); }
  Task<Result<>> flush(net::Scope scope) override { return out_.flush(scope); }
  [[nodiscard]] bool pending() const noexcept override { return out_.pending(); }
  [[nodiscard]] bool begun() const noexcept override { return accepted_ || out_.begun(); }
  [[nodiscard]] int status() const noexcept override { return accepted_ ? 101 : out_.status(); }
  [[nodiscard]] bool complete() const noexcept override { return accepted_ ? closed_ : out_.complete(); }
  [[nodiscard]] std::uint64_t bytes_written() const noexcept override { return out_.bytes_written(); }
  [[nodiscard]] std::chrono::nanoseconds client_wait() const noexcept override { return out_.client_wait(); }

 private:
  Server& server_;
  net::Stream& stream_;
  ClientWriter& out_;
  std::string reply_lines_;
  std::string received_;
  Watcher* watcher_ = nullptr;
  bool accepted_ = false;
  bool closed_ = false;
};

}  // namespace qq::downstream
