// Reasoning in this dialect. It has no place of its own for it; providers made several:
//   reasoning_content (DeepSeek and most), reasoning (Groq, OpenRouter, Ollama): a text;
//   reasoning_details (OpenRouter): [{type: reasoning.text | .summary | .encrypted,
//                                     text | summary | data, signature, id, format, index}].
// The text fields repeat what the details say, so details win where they have any text.
//
// A state is sealed in `signature` or `data` if somebody else made it. Otherwise it is the detail's JSON
// without its text: OpenRouter wants id, format and index back with it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/part.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_chat {

struct Detail {
  model::ReasoningPart::Kind kind = model::ReasoningPart::Kind::Full;
  std::string text;
  model::OpaqueState state;
  std::string id;
  std::int64_t index = -1;  // -1: none
  [[nodiscard]] bool is_encrypted() const noexcept { return kind == model::ReasoningPart::Kind::Redacted; }
  // Whether `next` goes on with what this one began: the state of a summary, or a signature.
  [[nodiscard]] bool is_continued_by(const Detail& next) const noexcept;
};
Detail read_detail(wire::JsonValue detail);

// The ReasoningParts of a message (any of the three values may have empty text), in order.
void append_thoughts(wire::JsonValue text, wire::JsonValue details, std::vector<model::Part>& out);

// One part as elements of an array `reasoning_details`: its text, then its state if it stands apart.
void write_thought(wire::JsonWriter& json, const model::Part& part, std::int64_t index);
// The element of a state alone, behind a text that was written before.
void write_thought_state(wire::JsonWriter& json, model::ReasoningPart::Kind kind, std::string_view id,
                         const model::OpaqueState& state, std::int64_t index);
void write_thought_text(wire::JsonWriter& json, model::ReasoningPart::Kind kind, std::string_view id,
                        std::string_view text, std::int64_t index);

}  // namespace qq::dialects::openai_chat
