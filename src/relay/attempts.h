// The one loop over a plan's targets: try, judge what happened, obey resilience/next_step.
#pragma once
#include "base/task.h"
#include "relay/request.h"

namespace qq::relay {

// Ends with an answer delivered or with `state.error` set, and the client has been told either way; or with
// `state.estimates` set, where a count that no target makes is left to the gateway.
Task<void> run_attempts(RequestState& state);

}  // namespace qq::relay
