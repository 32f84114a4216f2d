// The port to providers: one call is one attempt at one target. Implemented by upstream/ over pooled HTTP/1.1
// connections, and by simulations.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "net/stream.h"
#include "relay/settings.h"
#include "wire/http_head.h"

namespace qq::relay {

// Everything is borrowed and must outlive the call.
struct UpstreamCall {
  // Of who wants the reply even when its client has left; asked from then on, once the provider has the whole
  // request.
  class Patience {
   public:
    // Until when to wait for the reply's head before this is asked again; nothing: give up.
    virtual std::optional<MonotonicTime> wait_until() = 0;

   protected:
    ~Patience() = default;
  };

  enum class Method : std::uint8_t { Post, Get, Delete };  // the latter two without a body

  Method method = Method::Post;
  // A host that is asked this and no more: on a connection of its own, which is not kept, and we say little
  // of us.
  bool once = false;
  // Never sent twice: on a connection that was made for it, as one that had been idle may be dead already.
  bool creates = false;
  const model::Target* target = nullptr;
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  std::string_view path{};  // with its query; empty: that of the target's endpoint
  std::string_view request_id;
  std::string_view header_lines;  // forwarded from the client, each line with CRLF
  std::string_view auth_lines{};  // made for this request (authorizer.h), each line with CRLF
  // Asks for an upgrade to WebSocket with this Sec-WebSocket-Key, on a connection of its own: a Get without a
  // body, whose 101 is a reply like another. Empty: an ordinary request.
  std::string_view websocket_key{};
  std::string_view content_type = "application/json";
  std::span<const std::string_view> body_pieces;  // one gathered write
  std::size_t body_bytes = 0;
  bool stream = false;
  std::size_t reply_max = 16UL << 20U;  // of a body, where a client has to read it before it hands it over
  Patience* patience = nullptr;         // null: none

  [[nodiscard]] std::string_view path_and_query() const noexcept {
    return path.empty() ? std::string_view(target->endpoint(endpoint).path(stream)) : path;
  }
};

// One reply being read. Destroying it before its end closes the connection, which is how an attempt is
// cancelled; after its end the connection goes back to its pool.
class UpstreamReply {
 public:
  struct Piece {
    enum class Kind : std::uint8_t {
      Bytes,       // `bytes`, contiguous, decoded from chunks and content coding
      WouldBlock,  // wait for readable()
      End,         // the body ended as its framing says
      Failed,      // `error`, `reason`; `bytes` came before, in the same read
    };
    Kind kind = Kind::WouldBlock;
    bool last = false;       // Bytes: the body ends with them
    std::string_view bytes;  // valid until the next suspension or try_read
    ErrorKind error = ErrorKind::BodyCut;
    const char* reason = "";
  };

  virtual ~UpstreamReply() = default;
  // Valid until the next suspension only: heads are large, and an idle stream must be small.
  [[nodiscard]] virtual const wire::ResponseHead& head() const noexcept = 0;
  [[nodiscard]] virtual int status() const noexcept = 0;
  // Bytes that came with the head are returned first; take them before suspending.
  virtual Piece try_read() noexcept = 0;
  // To be called before suspending when the first `try_read` has to wait: keeps the bytes that came with the
  // head.
  virtual void keep() = 0;
  [[nodiscard]] virtual net::Stream::ReadyAwaiter readable(net::Scope scope) noexcept = 0;
  // The reply flows: from now on it may be read a little later, together with others (net::Stream).
  virtual void relax() noexcept {}
  // Of a 101: what is written to, while the reply itself is read, whose body are the other protocol's bytes
  // until the connection ends. Null for all others; lives as long as the reply.
  [[nodiscard]] virtual net::Stream* upgraded() noexcept { return nullptr; }
};

class UpstreamClient {
 public:
  virtual ~UpstreamClient() = default;
  // Sends the call and waits for the reply's head. Errors carry the phase: NotSent proves that the provider
  // has seen nothing. A request is sent a second time only on a fresh connection after a reused one failed
  // before any byte of a reply and so soon that the provider must have closed it before.
  virtual Task<Result<std::unique_ptr<UpstreamReply>>> send(const UpstreamCall& call, const Timers& timers,
                                                            net::Scope scope) = 0;
};

}  // namespace qq::relay
