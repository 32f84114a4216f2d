// The dialect's words for why an answer ended, and what a model's name and a target say of what it takes.
#pragma once
#include <cstdint>
#include <string_view>

#include "model/finish.h"
#include "model/part.h"
#include "model/target.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

// "STOP", "MAX_TOKENS", …; words that nobody knows yet are Stop. Google has no word for calls.
model::Finish finish_of(std::string_view word, bool has_calls) noexcept;
// The provider's own word if it is one of Google's, else the nearest.
std::string_view finish_word(model::Finish finish, std::string_view provider_word) noexcept;
// A `finishReason` as a word, also where an older Vertex sends its number.
std::string_view finish_reason(wire::JsonValue value) noexcept;
// The same of a `blockReason`.
std::string_view block_reason(wire::JsonValue value) noexcept;

enum class Modality : std::uint8_t { Text, Image, Audio, Other };
Modality modality_of(wire::JsonValue value) noexcept;

// "gemini-2.5-flash-lite" taken apart. Names without a number ("gemini-flash-latest") are of the newest kind.
struct ModelTraits {
  std::uint16_t generation = 0;  // 25 for 2.5, 30 for 3; 0: no Gemini (Gemma and others)
  bool pro = false;
  bool lite = false;
  [[nodiscard]] bool thinks() const noexcept { return generation >= 25; }
  // Thinking is asked for by level, and calls must come back with their signature.
  [[nodiscard]] bool has_levels() const noexcept { return generation >= 30; }
};
ModelTraits traits_of(std::string_view model) noexcept;

// Vertex takes labels and file names; call ids are AI Studio's.
bool is_vertex(const model::Target& target) noexcept;

}  // namespace qq::dialects::gemini
