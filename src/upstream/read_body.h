// The rest of a reply, for those who need the whole of it.
#pragma once
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "net/wait.h"
#include "relay/upstream_client.h"

namespace qq::upstream {

// To its end, or the first `max` bytes of it; after its end the connection can be used again. Errors, in
// phase ReplyBegun: the cancellation's, FirstByteTimeout when the scope's deadline comes first, and what the
// transfer broke off with.
Task<Result<std::string>> read_body(relay::UpstreamReply& reply, net::Scope scope, std::size_t max);

}  // namespace qq::upstream
