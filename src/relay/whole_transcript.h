// A transcript that comes whole although its caller asked for a stream: some models have none, and answer as
// they always do. It goes on as it is; where heartbeats have begun the stream by then, as the event that ends
// one, `transcript.text.done`.
#pragma once
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Whether a good reply of that content type is one.
bool is_whole_transcript(const RequestState& state, model::Endpoint endpoint,
                         std::string_view content_type) noexcept;

// Holds and judges it as a whole, up to `limits.event_max`. Errors as those of relay_answer.
Task<Result<>> relay_whole_transcript(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

}  // namespace qq::relay
