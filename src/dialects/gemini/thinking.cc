#include "dialects/gemini/thinking.h"

#include <algorithm>
#include <string>

#include "dialects/fields.h"
#include "dialects/losses.h"
#include "dialects/reasoning.h"

namespace qq::dialects::gemini {
namespace {

// The nearest level a model has. Flash has all four; Pro has no "minimal", and its first version no "medium".
std::string_view level_for(Effort effort, ModelTraits model, bool& exact) noexcept {
  exact = true;
  switch (effort) {
    case Effort::None:
      exact = false;  // it cannot be switched off
      return model.pro ? "low" : "minimal";
    case Effort::Minimal: exact = !model.pro; return model.pro ? "low" : "minimal";
    case Effort::Low: return "low";
    case Effort::Medium: exact = !model.pro || model.generation > 30; return exact ? "medium" : "high";
    case Effort::High: return "high";
    case Effort::XHigh:
    case Effort::Max: exact = false; return "high";
  }
  return "high";
}

struct Range {
  std::int64_t least;
  std::int64_t most;
};
constexpr Range budgets_of(ModelTraits model) noexcept {
  if (model.pro) return {128, 32768};
  return {model.lite ? 512 : 1, 24576};
}

std::int64_t budget_for(std::int64_t wished, ModelTraits model, std::string_view& why) noexcept {
  if (wished < 0) return -1;
  const Range range = budgets_of(model);
  if (wished == 0) {
    if (!model.pro) return 0;
    why = loss::kNearest;  // Pro cannot be switched off
    return range.least;
  }
  const std::int64_t budget = std::clamp(wished, range.least, range.most);
  if (budget != wished) why = loss::kOutOfRange;
  return budget;
}

}  // namespace

Thinking thinking_for(const model::ReasoningWish& wish, ModelTraits model, model::Dialect caller,
                      Losses& losses) {
  Thinking thinking;
  const auto report = [&](Field field, std::string_view why) {
    losses.push_back({std::string(name_of(field, caller)), why});
  };
  const bool wishes_amount = wish.effort.has_value() || wish.budget_tokens.has_value();
  if (!model.thinks()) {
    // Not thinking is what such a model does anyway.
    if (wishes_amount && effort_of(wish) != Effort::None) report(Field::Reasoning, loss::kNoSuchField);
    if (wish.show == true) report(Field::ReasoningShow, loss::kNoSuchField);
    return thinking;
  }
  thinking.include_thoughts = hears_thoughts(wish, caller);
  if (!wishes_amount) return thinking;
  if (model.has_levels()) {
    // A caller of this dialect that said a budget means it: these models still take one.
    if (wish.budget_tokens && !wish.effort && (caller == model::Dialect::Gemini || *wish.budget_tokens < 0)) {
      thinking.budget = wish.budget_tokens;
      return thinking;
    }
    bool exact = true;
    thinking.level = level_for(effort_of(wish).value_or(Effort::High), model, exact);
    if (!exact || !wish.effort) report(Field::Reasoning, loss::kNearest);
    return thinking;
  }
  std::string_view why;
  // An effort's budget is ours to choose, so that clamping it loses nothing but at its ends.
  thinking.budget = budget_for(*budget_of(wish), model, why);
  if (!wish.budget_tokens && why == loss::kOutOfRange) why = loss::kNearest;
  if (!why.empty()) report(Field::Reasoning, why);
  return thinking;
}

}  // namespace qq::dialects::gemini
