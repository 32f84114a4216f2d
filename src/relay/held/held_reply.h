// How what providers say of files and batches goes to the client. Its head names neither model nor attempts:
// the account's target that was asked may be of a model that the key does not know.
#pragma once
#include <string>
#include <string_view>

#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

std::string held_header_lines(const RequestState& state, std::string_view content_type);

// Relays a file's content or a batch's results as it comes, no faster than its client takes it. Nothing is
// promised before its first byte, or its end; an error from then on cuts the client's reply short.
Task<Result<>> relay_content(RequestState& state, UpstreamReply& reply);

}  // namespace qq::relay
