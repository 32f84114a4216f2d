// usageMetadata and the disjoint buckets:
//
//   promptTokenCount (cached ones inside) + toolUsePromptTokenCount = input; by modality: promptTokensDetails
//   candidatesTokenCount (thoughts not inside) = output without reasoning; by modality:
//   candidatesTokensDetails thoughtsTokenCount = reasoning; totalTokenCount is the sum of all
//
// What hosted tools read counts as uncached input: it has no bucket of its own, so that only its sum with the
// prompt comes out again.
#pragma once
#include "model/usage.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {

// Source None for an object without counts (Vertex before its last chunk).
model::Usage decode_usage(wire::JsonValue metadata);

// Writes the member `usageMetadata`; nothing for usage without any count.
void write_usage(wire::JsonWriter& json, const model::Usage& usage);

}  // namespace qq::dialects::gemini
