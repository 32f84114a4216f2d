// Keeps a waiting client's connection alive: a comment, or the
// dialect's own ping, after each stretch of silence, from acceptance on,
// whatever phase the request is in (queue, connect, first byte, gaps). The relay only ever writes whole
// events, so every moment between two of its writes is an event border. A heartbeat sends the 200 but never
// commits: fallback goes on until content.
#pragma once
#include "net/event_loop.h"
#include "relay/client_port.h"

namespace qq::relay {

class Heartbeat {
 public:
  // Not yet beating. `header_lines` go out with the 200 if a heartbeat is the first to send it; `words` are
  // the beat itself, a static text.
  Heartbeat(net::EventLoop& loop, ClientPort& client, Milliseconds every, std::string header_lines,
            std::string_view words);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void start();
  void stop() noexcept;
  // The client has just been written to.
  void touch() noexcept { last_write_ = loop_.now(); }

 private:
  struct BeatTimer : net::Timer {
    explicit BeatTimer(Heartbeat& owner) noexcept;
    Heartbeat& heartbeat;
  };
  void beat() noexcept;

  net::EventLoop& loop_;
  ClientPort& client_;
  Milliseconds every_;
  std::string header_lines_;
  std::string_view words_;
  MonotonicTime last_write_;
  BeatTimer timer_;
};

}  // namespace qq::relay
