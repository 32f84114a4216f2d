// One client connection: reads requests strictly, hands them to the relay, keeps the connection alive while
// both sides can.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "downstream/admitted.h"
#include "downstream/client_writer.h"
#include "downstream/closing.h"
#include "downstream/models_list.h"
#include "downstream/own_record.h"
#include "downstream/server.h"
#include "wire/http_head.h"

namespace qq::downstream {

class RealtimeSession;
class WebsocketSession;

class Connection {
 public:
  Connection(Server& server, net::Stream& stream, const ListenerConfig& listener);
  ~Connection();

  Task<void> serve();

  // Drain: closes if idle, and makes the running request the last one. Called again and again, as a new
  // connection may still bring its one request while the server takes any.
  void ask_to_finish() noexcept;
  // A request was admitted and is not done with. Refusals and what is answered without the relay are none.
  [[nodiscard]] bool runs_request() const noexcept;
  // Cuts what is still running.
  void terminate() noexcept;

 private:
  // A connection that came during a drain and has asked nothing yet.
  [[nodiscard]] bool may_wait_for_first() const noexcept;
  void take_newest_snapshot();
  // False when the connection is to be closed.
  Task<bool> serve_one();
  // False when the connection is to be closed.
  Task<bool> serve_realtime(std::unique_ptr<Admitted> admitted);
  // Reads until a head is complete and returns the bytes behind it, or nothing if the connection is over.
  Task<std::optional<std::string_view>> read_head();
  Task<void> answer_here(Admitted& admitted);
  Task<void> refuse_head(wire::HeadVerdict verdict, wire::HeadLimits limits);
  // `instead`: of the status of the error's kind, unless 0.
  Task<void> refuse(const Error& error, const OwnRequest& refused, int instead);
  Task<void> send_local(int status, std::string header_lines, std::string body);
  // What is decided between two waits. `rest`: bytes behind the head.
  std::unique_ptr<Admitted> admit(std::string_view rest);
  void answer_models(const ModelsAsked& asked, Admitted& admitted);
  void leave_body_unread() noexcept;
  // Once, when nothing more is asked of the request itself.
  static OwnRequest own(Admitted& admitted);
  // For what is written or discarded after a request: longer than any client should need.
  [[nodiscard]] net::Scope last_bytes() noexcept;

  Server& server_;
  relay::LoopServices& services_;
  net::Stream& stream_;
  const ListenerConfig& listener_;
  MonotonicTime opened_;
  std::shared_ptr<const relay::Snapshot> snapshot_;  // of the current request
  std::optional<net::Cancellation> gone_;
  std::optional<ClientWriter> writer_;
  std::unique_ptr<RealtimeSession> realtime_;    // while one is asked for or runs
  std::unique_ptr<WebsocketSession> websocket_;  // once the connection is upgraded
  std::string pending_;                          // received, not used yet
  MonotonicTime head_started_{};
  bool idle_ = true;
  bool running_ = false;
  bool finish_ = false;
  bool served_any_ = false;
  BodyUnread body_unread_ = BodyUnread::No;
};

}  // namespace qq::downstream
