// OpenAI's responses dialect, POST /v1/responses, both sides. Providers that speak it: OpenAI, Azure, xAI,
// OpenRouter, Groq, DeepSeek, LM Studio, Bedrock's mantle, GitHub Copilot.
//
// Source: openai-openapi openapi.yaml ("CreateResponse", "Response", "ResponseStreamEvent"), the npm package
// `openai` (lib/responses/ResponseAccumulator.ts: what a stream must have to be put together) and Codex
// (codex-api/src/sse/responses.rs: which events it reads); recorded traffic for what providers really send.
//
// Ours differs:
//   - of items only a reasoning item's id is kept; the others are made anew for the client
//   - neighbouring texts of an answer are parts of one message
//   - `instructions` and a first system message are the same to the model, and become `instructions`
//   - what has no place in the neutral model stays an ExtraField under its path: "text.verbosity"
//   - reasoning's `encrypted_content` is always given to the client, asked for or not: it is where the state
//     of all providers' thoughts travels
//   - the client's answer echoes its request as far as the neutral model holds it
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::openai_responses {

const ClientDialect& client_side() noexcept;
const ProviderDialect& provider_side() noexcept;

// What becomes of a request's fields towards a target of this dialect. The last kForeignOnly entries hold for
// requests of other dialects only.
SupportTable support() noexcept;

}  // namespace qq::dialects::openai_responses
