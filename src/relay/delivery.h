// The two waits of a relay: for the provider's next bytes, and for the client to take what it was given.
#pragma once
#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// What a wait for the provider came to, which began at `from`; its time counts as the provider's. Errors:
// `timeout` (or TotalTimeout, whichever deadline came first), ClientGone or the cancellation's other reason.
// A plain function: the wait itself is `co_await reply.readable(scope)`, without a frame of its own.
Result<> after_wait(RequestState& state, net::Wake wake, const net::Scope& scope, ErrorKind timeout,
                    MonotonicTime from);

// Of a write that found the client gone.
Error client_gone();

// After a write that did not return All: waits until the client has what is pending. Errors: ClientGone,
// ClientStalled.
Task<Result<>> taken_by_client(RequestState& state, ClientPort::Taken taken);

}  // namespace qq::relay
