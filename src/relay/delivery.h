// What relays of whole answers and of streams share: the commit point, and the two waits, for the provider's
// next bytes and for the client to take what it was given.
#pragma once
#include <algorithm>

#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// The commit point: the first content is about to go out, and no other target will be tried. The target
// works, which is all that a breaker's probe was to find out; how the answer ends is evidence of its own. The
// attempt's outcome is that of the headers, as far as they can know.
void commit(RequestState& state, model::Attempt& attempt);

// Gives the running attempt's place in the retry budget back, if it has one.
void end_repeat(RequestState& state);

// A wait for the provider is over, which began at `from`: its time counts as the provider's.
inline void count_wait(RequestState& state, MonotonicTime from) noexcept {
  state.upstream_wait += std::max(state.services.loop.now() - from, MonotonicTime::duration{0});
}

// What a wait for the provider came to, which began at `from`; its time counts as the provider's. Errors:
// `timeout` (or TotalTimeout, whichever deadline came first), ClientGone or the cancellation's other reason.
// A plain function: the wait itself is `co_await reply.readable(scope)`, without a frame of its own.
Result<> after_wait(RequestState& state, net::Wake wake, const net::Scope& scope, ErrorKind timeout,
                    MonotonicTime from);

// Of a write that found the client gone.
Error client_gone();

// Whether the error is that nobody takes the answer any more: the client has left, or it reads nothing.
bool is_lost_client(const Error& error) noexcept;

// After a write that did not return All: waits until the client has what is pending. Errors: ClientGone,
// ClientStalled.
Task<Result<>> taken_by_client(RequestState& state, ClientPort::Taken taken);

}  // namespace qq::relay
