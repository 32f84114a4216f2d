// A streamed answer: judged event by event, held until the first content, then relayed as it comes.
//
// Commit point: the first event with content. Until then every failure may fall back and nothing of the
// provider's stream is shown; heartbeats may have sent the 200. Afterwards the client sees an exact prefix of
// the provider's events, and a failure becomes one in-band error event without a [DONE].
#pragma once
#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// As relay_answer. After content was delivered an error has already been sent in-band.
Task<Result<>> relay_stream(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

}  // namespace qq::relay
