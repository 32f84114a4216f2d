// Before the body is read: who asks, for which endpoint, and may they?
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "admission/key_ring.h"
#include "base/result.h"
#include "model/part.h"
#include "relay/snapshot.h"
#include "wire/http_head.h"

namespace qq::relay {

// The key that a request presents, from `Authorization: Bearer`, `x-api-key`, `api-key`, `x-goog-api-key`; of
// Gemini's paths also the query's `key`; of what opens a WebSocket also the subprotocol
// `openai-insecure-api-key.KEY`, as browsers send it to OpenAI's Realtime. A view into the head. Errors:
// Unauthorized; InvalidRequest for one that is repeated.
Result<std::string_view> presented_key(const wire::RequestHead& head);
// Whose it is; lives as long as the snapshot. Errors: Unauthorized, whatever is presented where no keys are
// configured.
Result<std::reference_wrapper<const admission::KeyEntry>> known_key(const Snapshot& snapshot,
                                                                    std::string_view presented);
// Both.
Result<std::reference_wrapper<const admission::KeyEntry>> authenticate(const Snapshot& snapshot,
                                                                       const wire::RequestHead& head);

// The header lines of a client's request that go on to a provider of the same dialect (an allow-list).
std::string forwarded_header_lines(const wire::Fields& fields, model::Dialect dialect);

}  // namespace qq::relay
