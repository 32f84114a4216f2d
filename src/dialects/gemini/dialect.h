// Google's generateContent, of AI Studio (generativelanguage.googleapis.com) and Vertex: both sides.
//
//   request_decode  what applications say; content_decode: its contents and parts
//   request_encode  how a target is asked; content_encode: its contents; schema: its schemas; thinking
//   framing         SSE, JSON arrays and bare JSON in one stream; chunk_decode: what one response object says
//   answer_*, stream_*, usage, logprobs, errors, count_tokens
//
// Sources: ai.google.dev/api/generate-content; googleapis/python-genai types.py and _api_client.py,
// googleapis/js-genai _api_client.ts, googleapis/go-genai api_client.go for how answers are read.
//
// Ways we differ: requests are taken in camelCase and snake_case, and one object where Google wants a list of
// one, as Google does; a role other than user, model, function and tool is refused. An answer's calls always
// have an id, also where Google gives none. A finish reason is told at the end of the stream, since Google
// goes on behind STOP. Heartbeats are responses with an empty text (stream_encode.h says why).
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::gemini {

const ClientDialect& client_side() noexcept;
const ProviderDialect& provider_side() noexcept;

// What a target of this dialect makes of each field, for documents and their test.
SupportTable support() noexcept;

}  // namespace qq::dialects::gemini
