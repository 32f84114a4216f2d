// One client connection: reads requests strictly, hands them to the relay, keeps the connection alive while
// both sides can.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "downstream/client_writer.h"
#include "downstream/server.h"
#include "wire/body_reader.h"
#include "wire/http_head.h"

namespace qq::downstream {

class Connection {
 public:
  Connection(Server& server, net::Stream& stream, const ListenerConfig& listener);
  ~Connection();

  Task<void> serve();

  // Drain: closes if idle, and makes the running request the last one.
  void ask_to_finish() noexcept;
  // Cuts what is still running.
  void terminate() noexcept;

 private:
  // False when the connection is to be closed.
  Task<bool> serve_one();
  // Reads until a head is complete and returns the bytes behind it, or nothing if the connection is over.
  Task<std::optional<std::string_view>> read_head();
  Task<Result<>> read_body(wire::BodyReader& reader, std::string& body);
  Task<void> refuse(const Error& error, bool body_unread);
  Task<void> send_local(int status, std::string header_lines, std::string body);
  // Lets the client read what was sent before the close discards it (RFC 9112 9.6).
  Task<void> linger();

  Server& server_;
  relay::LoopServices& services_;
  net::Stream& stream_;
  const ListenerConfig& listener_;
  std::shared_ptr<const relay::Snapshot> snapshot_;  // of the current request
  std::optional<net::Cancellation> gone_;
  std::optional<ClientWriter> writer_;
  std::string pending_;        // received, not used yet
  std::string refused_what_;   // "GET /nowhere", of the request being refused; for its log line
  MonotonicTime head_started_{};
  int bad_head_status_ = 0;
  bool idle_ = true;
  bool finish_ = false;
  bool served_any_ = false;
  bool hold_close_ = false;    // unread bytes of the client: linger before closing
};

}  // namespace qq::downstream
