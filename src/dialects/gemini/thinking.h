// How much to think, as a Gemini model wants to be told: a level from Gemini 3 on, a budget for 2.5, nothing
// before. Source: ai.google.dev/gemini-api/docs/thinking ("Thinking levels", "Thinking budgets").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "dialects/dialect.h"
#include "dialects/gemini/words.h"
#include "model/chat_request.h"

namespace qq::dialects::gemini {

struct Thinking {
  std::string_view level;              // "low"; empty: none
  std::optional<std::int64_t> budget;  // never with a level
  std::optional<bool> include_thoughts;
  [[nodiscard]] bool empty() const noexcept { return level.empty() && !budget && !include_thoughts; }
};

// What cannot be had is reported under the caller's name for it.
Thinking thinking_for(const model::ReasoningWish& wish, ModelTraits model, model::Dialect caller,
                      Losses& losses);

}  // namespace qq::dialects::gemini
