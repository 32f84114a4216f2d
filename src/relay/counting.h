// Counting a request's tokens (POST /v1/messages/count_tokens, /v1/responses/input_tokens, :countTokens)
// where no target of the route counts in the caller's dialect: the gateway answers itself, with an estimate.
#pragma once
#include <string>

#include "relay/request.h"

namespace qq::relay {

// The endpoint of the conversation whose tokens are counted at `endpoint`; nothing if it does not count.
std::optional<model::Endpoint> counted_at(model::Endpoint endpoint) noexcept;

// Whether what was asked is a count that the model behind an envelope does not make, as not all of Bedrock's
// do: that is one for an estimate, too.
bool is_for_estimate(const RequestState& state);
// The answer's body. Errors: InvalidRequest in the caller's own words.
Result<std::string> estimated_count(const RequestState& state);

}  // namespace qq::relay
