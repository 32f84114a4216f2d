// What a provider says instead of an answer.
#pragma once
#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Reads a reply that is no 2xx answer, and leaves what it means in `attempt.error`. A client that leaves
// before its end ends the attempt: half an error says nothing about the target.
Task<void> take_refusal(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

}  // namespace qq::relay
