// The end of a request that has no answer: the client is told why, in its own dialect and in the form that
// what it was sent before leaves room for.
#pragma once
#include "base/task.h"
#include "relay/request.h"

namespace qq::relay {

// Tells the client what the whole chain came to: a reply of its own, an event behind what was streamed, or
// nothing where none fits. Leaves in `state.error` what the request ended with.
Task<void> answer_error(RequestState& state, Error error);

// What the request ended with, as the client may read it: an attempt's failure without the addresses that it
// speaks of. `state.error` is there.
Error error_to_tell(const RequestState& state);

}  // namespace qq::relay
