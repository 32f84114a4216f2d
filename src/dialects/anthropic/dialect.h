// Anthropic's Messages: POST /v1/messages and /v1/messages/count_tokens, and the same bodies inside Vertex
// and Bedrock invoke. Both sides.
//
// Source: the types of @anthropic-ai/sdk and platform.claude.com/docs/en/api/messages; what its stream looks
// like to a client is decided by what the SDK and Claude Code read. Where we differ:
//   - A request for another model's caller is made to fit. Turns of one role are joined, results stand first,
//     blank texts are left out, a first turn of the user's is made up ("."), tools that only the history
//     knows are declared. A call's id is mapped by what it is, and numbered where it is used twice.
//   - Without max_tokens a target gets the most that its family of models can say (families.h).
//   - Thinking gives way, and is reported lost, where Anthropic refuses it beside something that the caller
//     said more plainly: a forced tool, the beginning of the answer, max_tokens too small to think, a tool
//     loop whose calls another model thought about. Temperature and its kind give way to thinking.
//   - A conversation that ends with an assistant's turn is one whose answer was begun. Models from 4.6 on
//     refuse that: they get a user's turn (".") behind it.
//   - A JSON object without a schema, and a schema for models that take none, are asked for in the system
//     prompt. Schemas lose the words that Anthropic refuses (schema.h).
//   - At most 4 cache marks: of more, the last.
//   - A request that an Anthropic client wrote is not corrected in these ways beyond turns and blank texts:
//     its provider's own error is the better answer.
//   - A stream's `stop_details`, `container` and `context_management` are not handed on: the neutral stream
//     has no place for them.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::anthropic {

const ClientDialect& client_side() noexcept;
// The envelope is chosen by Target::quirks.messages_form. Which anthropic-version a request has that goes to
// Anthropic itself is said by the target's default header lines.
const ProviderDialect& provider_side() noexcept;

// What requests for a target of this dialect keep. Not in the table, for it depends on the values:
// temperature above 1, blank stop strings, service tiers other than auto and default, more than 4 cache
// marks, and what families of models take (families.h).
SupportTable support() noexcept;

// POST /v1/messages/count_tokens: as a request for an answer, but that max_tokens may be absent.
Result<model::ChatRequest> decode_count_request(std::string_view body, const RequestHead& head);
std::string encode_count(model::TokenCount input_tokens);

}  // namespace qq::dialects::anthropic
