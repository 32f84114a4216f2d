// Efforts, budgets and levels: the same wish in the words of different dialects. The figures are ours where
// no provider gives any; OpenAI-compatible gateways and Google's own compatibility layer map 1,024 / 8,192 /
// 24,576 to low / medium / high (ai.google.dev/gemini-api/docs/openai, "Thinking").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/chat_request.h"

namespace qq::dialects {

using Effort = model::ReasoningWish::Effort;

// "none", "minimal", "low", "medium", "high", "xhigh", "max".
std::string_view word_of(Effort effort) noexcept;
std::optional<Effort> effort_of(std::string_view word) noexcept;

// Tokens to think for, at least Anthropic's 1,024; 0 for None.
std::int64_t budget_of(Effort effort) noexcept;
// The effort whose budget is the nearest that is not smaller; -1 (as the model likes) is Medium, 0 is None.
Effort effort_of_budget(std::int64_t budget_tokens) noexcept;

// What was wished for in one form, whichever it was said in; nothing if neither was.
std::optional<Effort> effort_of(const model::ReasoningWish& wish) noexcept;
std::optional<std::int64_t> budget_of(const model::ReasoningWish& wish) noexcept;

// Whether thoughts or their summary are to come with the answer; nothing if the caller leaves it open. An
// Anthropic client that has the model think hears what it thinks unless it says otherwise (the SDK's
// ThinkingConfigEnabled: `display` "defaults to summarized").
std::optional<bool> hears_thoughts(const model::ReasoningWish& wish, model::Dialect caller) noexcept;

}  // namespace qq::dialects
