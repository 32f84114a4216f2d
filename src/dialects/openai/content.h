// Is there anything in it? The one place that knows under which names providers of the OpenAI dialects send
// text, reasoning, refusals, tool calls, audio and images, in messages and in stream deltas alike.
#pragma once
#include <string_view>

#include "wire/json.h"

namespace qq::dialects::openai {

// A text that is more than white space; or a list of parts (Mistral's hybrid models, in deltas too) of which
// one is.
bool has_text(wire::JsonValue content) noexcept;

// A chat `message` or `delta` with something a client can see: content, refusal, reasoning under any of its
// names (reasoning_content, reasoning, reasoning_details), tool_calls or the old function_call, audio,
// images. Encrypted reasoning alone is nothing that can be seen. A tool delta counts when it names the
// function, brings an id or adds arguments: Qwen's follow-ups with `id:""` and no arguments don't.
bool message_has_content(wire::JsonValue message) noexcept;
// The same for members that were not walked yet.
bool any_content(wire::JsonMembers& members) noexcept;

// Whether a whole answer, a message or a delta that has no content says something all the same: white space.
bool says_white_space(wire::JsonValue value) noexcept;

// An item of a responses answer's `output` with something in it. Kinds we don't know count: better to deliver
// what is new than to call it empty.
bool output_item_has_content(wire::JsonValue item) noexcept;

// Responses deltas whose white space is nothing yet; in a call's arguments or a diff it is content.
bool is_prose_delta(std::string_view type) noexcept;

// What a finish reason says about an answer with nothing in it.
enum class FinishMeaning : std::uint8_t {
  Normal,       // done; also every word we don't know
  EmptyIsFine,  // cut by length, stopped by a filter or a stop string
  Broken,       // the provider's word for "this generation failed"
};
FinishMeaning meaning_of_finish(std::string_view reason) noexcept;

// A choice's own word that a stop string ended it: vLLM's `stop_reason`, SGLang's `matched_stop` (a number
// there is the end-of-text token).
bool is_stop_string_mark(std::string_view key, wire::JsonValue value) noexcept;

}  // namespace qq::dialects::openai
