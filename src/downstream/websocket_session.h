// Chat over WebSocket: one client connection behind its upgrade. Each text message is the body of one request
// of POST /v1/chat/completions, relayed as over HTTP and under the same limits; websocket_reply.h says how
// the answer comes back.
//
// Answers come in the order of the messages. While one is answered a few more may wait; what comes on top is
// refused with an error message in its turn, and whoever goes on all the same is closed upon (1008). So the
// connection is read all the time, and pings, a Close and a client that leaves are noticed at once.
//
//   reads    the connection's own coroutine: frames into requests, control frames, the client's silence
//   answers  one more: request after request; the only one that waits for the client to take bytes
//
// A client that is silent between its requests is asked by a ping after half of timers.client_idle and closed
// upon after all of it; while a request runs it is judged by whether it takes its answer, as over HTTP.
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "base/task.h"
#include "downstream/server.h"
#include "downstream/websocket_reply.h"
#include "downstream/websocket_upgrade.h"
#include "relay/request.h"
#include "wire/websocket.h"

namespace qq::downstream {

// A whole message, or one that was refused before it was whole.
struct WebsocketAsked {
  relay::IncomingRequest incoming;
  MonotonicTime complete{};
  std::optional<Error> refusal{};
  std::size_t bytes = 0;   // that came of it
  bool discarded = false;  // the rest is passed over
};

class WebsocketSession {
 public:
  WebsocketSession(Server& server, net::Stream& stream, ClientWriter& out, WebsocketUpgrade upgrade);
  WebsocketSession(const WebsocketSession&) = delete;
  WebsocketSession& operator=(const WebsocketSession&) = delete;

  // From the 101 to the end, closing handshake included; then the stream is only to be closed. `received`:
  // what has come behind the head.
  Task<void> serve(std::string received);

  // As of Connection. Who runs no request is closed upon with 1001.
  void ask_to_finish() noexcept;
  void terminate() noexcept;
  [[nodiscard]] bool runs_request() const noexcept { return running_ || !asked_.empty(); }

 private:
  Task<void> read_all(std::string received);
  bool take(std::string_view bytes);
  bool take_event(const wire::WebsocketReader::Event& event);
  void take_message();
  void watch_arriving();
  [[nodiscard]] std::optional<Error> no_room() noexcept;
  [[nodiscard]] MonotonicTime arriving_until() const noexcept;
  [[nodiscard]] MonotonicTime deadline() const noexcept;
  bool still_there();

  static Task<void> answer_all(WebsocketSession& session);
  std::optional<Error> take_up(WebsocketAsked& asked);
  Task<void> answer(WebsocketAsked asked);
  Task<void> refuse(WebsocketAsked& asked);
  void give_up_waiting();
  void record(const WebsocketAsked& asked, int status, const Error& error);
  void end(wire::WebsocketClose code, std::string_view reason) noexcept;
  [[nodiscard]] net::Scope last_bytes() noexcept;

  Server& server_;
  relay::LoopServices& services_;
  net::Stream& stream_;
  ClientWriter& out_;
  WebsocketUpgrade upgrade_;
  WebsocketReply reply_;
  wire::WebsocketReader reader_;
  std::optional<WebsocketAsked> arriving_;
  std::deque<WebsocketAsked> asked_;
  net::Cancellation stop_;                 // both coroutines end
  std::optional<net::Cancellation> gone_;  // of the running request
  net::Signal work_;
  MonotonicTime heard_;     // the last whole frame
  MonotonicTime answered_;  // the last answer's end
  bool pinged_ = false;     // since then
  bool running_ = false;
  bool finish_ = false;
  bool cut_ = false;
  TaskGroup tasks_;
};

}  // namespace qq::downstream
