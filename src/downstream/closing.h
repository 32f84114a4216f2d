// The orderly end of a client's connection. It stands apart from the serving of requests because a mere close
// loses answers: it drops what the stream still holds, and while bytes of the client are unread, or on their
// way, it is a reset, which destroys what the client has not taken yet.
//
// In this order, each awaited at once, and then the stream is closed; `scope` is the longest either may take.
#pragma once
#include <cstddef>

#include "base/task.h"
#include "net/event_loop.h"

namespace qq::downstream {

class Server;

// Whether the request that was answered last has a body of which more is to come.
enum class BodyUnread : bool { No, Yes };

// Until the kernel has all of the answer, or the client takes nothing of it for `stall`.
Task<void> settle(net::Stream& stream, net::Scope scope, Milliseconds stall);

// Sends a FIN, upon which the client usually closes at once; until then what it sends is discarded (RFC 9112
// 9.6), within limits. For answers that were written whole. `body_max`: of a request, in bytes.
Task<void> linger(Server& server, net::Stream& stream, net::Scope scope, std::size_t body_max,
                  BodyUnread unread);

}  // namespace qq::downstream
