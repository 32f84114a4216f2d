#include "dialects/reasoning.h"

#include <array>
#include <utility>

namespace qq::dialects {
namespace {

struct Level {
  Effort effort;
  std::string_view word;
  std::int64_t budget;
};
constexpr std::array<Level, 7> kLevels{{
    {Effort::None, "none", 0},
    {Effort::Minimal, "minimal", 1024},
    {Effort::Low, "low", 1024},
    {Effort::Medium, "medium", 8192},
    {Effort::High, "high", 24576},
    {Effort::XHigh, "xhigh", 32768},
    {Effort::Max, "max", 65536},
}};

const Level& level(Effort effort) noexcept {
  return kLevels[std::to_underlying(effort)];
}

}  // namespace

std::string_view word_of(Effort effort) noexcept {
  return level(effort).word;
}

std::optional<Effort> effort_of(std::string_view word) noexcept {
  for (const Level& each : kLevels) {
    if (each.word == word) return each.effort;
  }
  return std::nullopt;
}

std::int64_t budget_of(Effort effort) noexcept {
  return level(effort).budget;
}

Effort effort_of_budget(std::int64_t budget_tokens) noexcept {
  if (budget_tokens < 0) return Effort::Medium;
  for (const Level& each : kLevels) {
    // What Low and Minimal share is Low: Minimal is a special mode of few models.
    if (each.effort != Effort::Minimal && budget_tokens <= each.budget) return each.effort;
  }
  return Effort::Max;
}

std::optional<Effort> effort_of(const model::ReasoningWish& wish) noexcept {
  if (wish.effort) return wish.effort;
  if (wish.budget_tokens) return effort_of_budget(*wish.budget_tokens);
  return std::nullopt;
}

std::optional<std::int64_t> budget_of(const model::ReasoningWish& wish) noexcept {
  if (wish.budget_tokens) return wish.budget_tokens;
  if (wish.effort) return budget_of(*wish.effort);
  return std::nullopt;
}

std::optional<bool> hears_thoughts(const model::ReasoningWish& wish, model::Dialect caller) noexcept {
  const bool thinks = wish.budget_tokens.value_or(0) != 0;
  if (!wish.show && thinks && caller == model::Dialect::Anthropic) return true;
  return wish.show;
}

}  // namespace qq::dialects
