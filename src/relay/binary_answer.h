// Answers that are no JSON, where their endpoint has such: speech, as the audio that was asked for, and
// transcripts as text or subtitles. What is in them is not ours to read: status and content type say that it
// is an answer, and that there is anything at all. It streams on as it comes, no faster than its client takes
// it.
#pragma once
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Whether a good reply of that content type is one, rather than a document that is read.
bool is_binary_answer(model::Endpoint endpoint, std::string_view content_type) noexcept;

// Relays it. Nothing is promised before its first byte; an error from then on cuts the client's reply short.
// Errors: EmptyReply for a body without bytes, and those of a whole answer's waits and reads.
Task<Result<>> relay_binary_answer(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

}  // namespace qq::relay
