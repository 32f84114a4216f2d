// How answers go to a client over WebSocket, one request at a time, and the control frames between them.
//
//   a whole answer, an error    one text message, its body
//   a stream                    one text message per event, what its `data:` lines say; "[DONE]" is the last
//   an answer too large to hold one text message in fragments
//   a heartbeat                 a ping
//
// Statuses and header lines have no place there and are dropped. What providers say is not always UTF-8, as
// text messages must be: ill-formed bytes become U+FFFD.
#pragma once
#include <optional>
#include <string>

#include "downstream/client_writer.h"
#include "relay/client_port.h"
#include "wire/sse.h"
#include "wire/utf8.h"
#include "wire/websocket.h"

namespace qq::downstream {

class WebsocketReply final : public relay::ClientPort {
 public:
  // `out` has been told of no reply and lives longer.
  explicit WebsocketReply(ClientWriter& out) noexcept : out_(out) {}

  // Before each request. `waited`: how long the client was waited for until its message was there.
  void start(net::Cancellation& gone, std::size_t event_max, std::chrono::nanoseconds waited);

  // Control frames; between two requests as well as inside an answer.
  void ping();
  // Answers a ping. While bytes are pending only the latest is remembered, as is allowed (RFC 6455 5.5.3).
  void pong(std::string_view payload);
  // Says that the connection ends; nothing can be said behind it.
  void close(wire::WebsocketClose code, std::string_view reason);

  [[nodiscard]] net::Cancellation& gone() noexcept override { return *gone_; }
  Taken reply(int status, std::string_view header_lines, std::span<const std::string_view> body) override;
  void begin(int status, std::string header_lines) override;
  Taken write(std::span<const std::string_view> pieces, Last last) override;
  void abort() noexcept override;
  Task<Result<>> flush(net::Scope scope) override;
  [[nodiscard]] bool pending() const noexcept override { return out_.pending(); }
  [[nodiscard]] bool begun() const noexcept override { return status_ != 0; }
  [[nodiscard]] int status() const noexcept override { return status_; }
  [[nodiscard]] bool complete() const noexcept override { return complete_; }
  [[nodiscard]] std::uint64_t bytes_written() const noexcept override {
    return out_.bytes_written() - bytes_before_;
  }
  [[nodiscard]] std::chrono::nanoseconds client_wait() const noexcept override {
    return waited_ + out_.client_wait() - wait_before_;
  }

 private:
  [[nodiscard]] bool may_speak() const noexcept { return !closed_ && !out_.broken(); }
  void unwrap(std::string_view bytes, std::string& frames);
  void append_message(std::string_view text, std::string& frames);
  void append_fragment(std::span<const std::string_view> pieces, Last last, std::string& frames);
  Taken send(std::string_view head, std::string_view body = {});
  void send_owed_pong();

  ClientWriter& out_;
  net::Cancellation* gone_ = nullptr;
  std::optional<std::string> owed_pong_;
  std::optional<wire::SseDecoder> events_;  // of a stream
  wire::Utf8Mender mender_;                 // of a message in fragments
  int status_ = 0;
  bool complete_ = false;
  bool closed_ = false;
  bool fragmented_ = false;  // the message's first fragment was sent
  std::uint64_t bytes_before_ = 0;
  std::chrono::nanoseconds wait_before_{};
  std::chrono::nanoseconds waited_{};
};

}  // namespace qq::downstream
