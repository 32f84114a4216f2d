// The two waits of a relay: for the provider's next bytes, and for the client to take what it was given.
#pragma once
#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Until `reply` may be read. Errors: `timeout` (or TotalTimeout, whichever deadline came first), ClientGone or
// the cancellation's other reason. The time waited counts as the provider's.
Task<Result<>> wait_for_upstream(RequestState& state, UpstreamReply& reply, net::Scope scope, ErrorKind timeout);

// After a write: waits until the client has what is pending. Errors: ClientGone, ClientStalled.
Task<Result<>> taken_by_client(RequestState& state, ClientPort::Taken taken);

}  // namespace qq::relay
