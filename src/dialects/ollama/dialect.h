// Ollama's own chat, as a provider: POST /api/chat, answers whole and as lines of JSON. (Its imitations of
// OpenAI's and Anthropic's endpoints are those dialects.)
//
// Source: docs.ollama.com/api/chat and openapi.yaml; ollama/ollama, api/types.go. What is decided here:
//   - `stream` is always said, for Ollama streams where it is not.
//   - A tool cannot be demanded: of a choice, only the tools that may be called are sent, and none for
//   "none".
//   - Thinking is on or off; gpt-oss takes low, medium and high. Without Target::reasons nothing is said, for
//     Ollama refuses it where a model cannot think.
//   - Thoughts of earlier turns go back as `thinking`, whoever thought them.
//   - Images travel inside the request. Files of text become text; what else a file is has no place. What a
//     result shows follows in a user's message.
//   - The times it took stay as ExtraFields of whole answers.
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::ollama {

const ProviderDialect& provider_side() noexcept;

// What requests for a target of this dialect keep. Not in the table, for it depends on the values: tool
// choices, efforts, files.
SupportTable support() noexcept;

}  // namespace qq::dialects::ollama
