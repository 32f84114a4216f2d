// A candidate's `logprobsResult` and the neutral form, OpenAI chat's array `logprobs.content`.
#pragma once
#include "model/part.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {

// Empty for a result without tokens.
model::Json decode_logprobs(wire::JsonValue result);
// Writes the member `logprobsResult`.
void write_logprobs(wire::JsonWriter& json, wire::JsonValue logprobs);

}  // namespace qq::dialects::gemini
