// OpenAI's chat completions, both sides: as clients speak them, and as dozens of providers do.
//
// Source: openai/openai-openapi, openapi.yaml (POST /chat/completions), and what compatible providers were
// recorded to send. Beyond it:
//   - reasoning goes out as `reasoning_content` (DeepSeek's name, which most SDKs read) and, piece by piece
//     with its signatures, as `reasoning_details` (OpenRouter's shape), and is read under all of its names;
//   - state of other dialects' makers is sealed into `signature` or `data` there, and into the id of the
//     first tool call behind it (dialects/carried_state.h), for clients that drop what they do not know;
//   - a state of our own (maker OpenAiChat) is what `reasoning_details` or `extra_content` held, as JSON;
//   - images in answers are `images`, a text's sources `annotations`, an answer spoken is `audio`;
//   - the older `functions` and role `function` are refused: answers to them would have to look different.
// What providers want said differently is in model::ChatQuirks.
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::openai_chat {

const ClientDialect& client_side() noexcept;
const ProviderDialect& provider_side() noexcept;

// What a request can lose on its way to a target of this dialect. What depends on the kind of provider is
// in it as for the poorest of them.
SupportTable support() noexcept;

}  // namespace qq::dialects::openai_chat
