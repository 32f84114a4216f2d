// Counting the tokens of messages where Claude is asked inside another provider's API:
//
//   Vertex    publishers/anthropic/models/count-tokens:rawPredict: the same body, with the model's name in it
//   Bedrock   POST /model/{id}/count-tokens: {"input":{"invokeModel":{"body":…}}}, where the body is that of
//   an
//             InvokeModel in base64; it answers {"inputTokens":…}
//
// What the caller says goes on as it stands, but for the envelope. Sources: docs.cloud.google.com, "Count
// tokens" of Claude; docs.aws.amazon.com/bedrock, CountTokens.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects::anthropic {

// `body` was checked; `beta` is the header anthropic-beta. The target's messages_form is not Direct.
EncodedRequest encode_enveloped_count(std::string_view body, std::string_view beta,
                                      const model::Target& target);
// Nothing if `body` is no count.
std::optional<std::int64_t> decode_enveloped_count(std::string_view body);

}  // namespace qq::dialects::anthropic
