// The port to a client whose connection is to become a WebSocket that is relayed to a provider: Realtime.
// Implemented by downstream/. Until the provider has accepted it is asked as an HTTP client is (`reply`
// refuses); from `accept` on bytes go both ways.
#pragma once
#include <string>
#include <string_view>

#include "base/secret.h"
#include "model/usage.h"
#include "net/stream.h"
#include "relay/client_port.h"

namespace qq::relay {

class SocketPort : public ClientPort {
 public:
  // What the connection's owner wants of whoever relays it; called from outside of the relay's coroutines.
  class Watcher {
   public:
    virtual void asked_to_finish() noexcept = 0;  // as soon as nothing runs
    virtual void cut() noexcept = 0;              // now

   protected:
    ~Watcher() = default;
  };

  // The 101, with these lines beside those of the upgrade itself.
  virtual Taken accept(std::string_view header_lines) = 0;
  // Whole frames, behind what is pending; from any of the connection's coroutines. `flush` is for one.
  virtual Taken send(std::span<const std::string_view> frames) = 0;
  // Nothing more goes to it, a Close the last.
  virtual void closed() noexcept = 0;

  // What came behind the head, once.
  virtual std::string take_received() = 0;
  // To be read, and counted in the loop's counters by whoever reads.
  [[nodiscard]] virtual net::Stream& stream() noexcept = 0;
  // Null: nobody.
  virtual void watch(Watcher* watcher) noexcept = 0;
};

// What a Realtime connection was opened with, and what came of it.
struct RealtimeCall {
  SocketPort* port = nullptr;    // the same as the request's client; outlives it
  std::string model{};           // as asked for
  Secret key{};                  // as presented: it may be withdrawn while the connection lasts
  std::string more_query{};      // "&intent=transcription", to go on to the provider; empty: nothing
  std::string sent_key{};        // of the running attempt's handshake
  std::uint32_t responses = 0;   // that have ended
  std::uint64_t bytes_read = 0;  // of the client's messages
  model::Usage used{};           // by all of them, and by transcripts
};

}  // namespace qq::relay
