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

// The key of the request, from `Authorization: Bearer`, `x-api-key`, `api-key`, `x-goog-api-key` or, of
// Gemini's paths, the query's `key`; it lives as long as the snapshot. Errors: Unauthorized, whatever is
// presented where no keys are configured; InvalidRequest for a header of a key that is repeated.
Result<std::reference_wrapper<const admission::KeyEntry>> authenticate(const Snapshot& snapshot,
                                                                       const wire::RequestHead& head);

// The header lines of a client's request that go on to a provider of the same dialect (an allow-list).
std::string forwarded_header_lines(const wire::Fields& fields, model::Dialect dialect);

}  // namespace qq::relay
