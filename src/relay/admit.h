// Before the body is read: who asks, for which endpoint, and may they?
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "admission/key_ring.h"
#include "base/result.h"
#include "model/endpoint.h"
#include "relay/snapshot.h"
#include "wire/http_head.h"

namespace qq::relay {

// "/v1/chat/completions" → ChatCompletions; nothing for other paths.
std::optional<model::Endpoint> endpoint_of(std::string_view path) noexcept;

// The key of the request, from `Authorization: Bearer`, `x-api-key` or `api-key`; it lives as long as the
// snapshot. Errors: Unauthorized, whatever is presented where no keys are configured; InvalidRequest for a
// header of a key that is repeated.
Result<std::reference_wrapper<const admission::KeyEntry>> authenticate(const Snapshot& snapshot,
                                                                       const wire::Fields& fields);

// The header lines of a client's request that go on to the provider (an allow-list).
std::string forwarded_header_lines(const wire::Fields& fields);

}  // namespace qq::relay
