// A whole (non-stream) answer: held until it is complete or too large to hold, judged, then delivered.
#pragma once
#include "base/task.h"
#include "dialects/openai/answer.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Success: the answer went to the client (or the client left: ClientGone). An error before delivery leaves
// the client untouched, so that another target can be tried; `attempt.delivered` tells.
Task<Result<>> relay_answer(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

// What the fault of a body means that is no answer: the dialect has read what the provider says, the
// catalogue knows what it means.
Error fault_of(const model::Target& target, const dialects::openai::AnswerFacts& facts);

}  // namespace qq::relay
