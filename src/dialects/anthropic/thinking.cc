#include "dialects/anthropic/thinking.h"

#include <algorithm>

#include "dialects/fields.h"
#include "dialects/reasoning.h"

namespace qq::dialects::anthropic {
namespace {

using Mode = Thinking::Mode;

constexpr std::int64_t kLeastBudget = 1024;  // Anthropic's own limit

// An Anthropic client's words go on as they are.
Thinking as_said(const model::ReasoningWish& wish) {
  Thinking out;
  if (wish.effort) out.effort = word_of(*wish.effort);
  out.shown = wish.show;
  if (!wish.budget_tokens) return out;
  out.budget = *wish.budget_tokens;
  out.mode = out.budget == 0 ? Mode::Disabled : out.budget < 0 ? Mode::Adaptive : Mode::Budget;
  return out;
}

// The words that 4.6 knows; later ones know all but Minimal.
std::string_view effort_word(Effort effort, ThinkingForm form) {
  if (effort == Effort::Minimal) effort = Effort::Low;
  if (form == ThinkingForm::Either) effort = std::min(effort, Effort::High);
  return word_of(effort);
}

Thinking wished(const model::ReasoningWish& wish, ThinkingForm form) {
  Thinking out;
  const std::optional<Effort> effort = effort_of(wish);
  if (form == ThinkingForm::None) return out;
  if (form == ThinkingForm::Budget) {
    if (!effort && !wish.show.value_or(false)) return out;
    out.budget = wish.budget_tokens.value_or(-1) > 0 ? *wish.budget_tokens
                                                     : budget_of(effort.value_or(Effort::Medium));
    out.mode = out.budget > 0 ? Mode::Budget : Mode::Absent;
    return out;
  }
  out.shown = wish.show;
  if (effort == Effort::None) {
    if (form == ThinkingForm::Always) out.effort = word_of(Effort::Low);
    if (form != ThinkingForm::Always) out.mode = Mode::Disabled;
    return out;
  }
  if (!effort && wish.summary.empty() && !wish.show.value_or(false)) return out;
  if (form == ThinkingForm::Either && wish.budget_tokens.value_or(-1) > 0) {
    out.mode = Mode::Budget;
    out.budget = *wish.budget_tokens;
    return out;
  }
  out.mode = Mode::Adaptive;
  if (effort && wish.budget_tokens != -1) out.effort = effort_word(*effort, form);
  if (!wish.summary.empty()) out.shown = true;
  return out;
}

bool forces_a_tool(const model::ChatRequest& request) {
  return request.tool_choice && request.tool_choice->mode == model::ToolChoice::Mode::Required;
}

}  // namespace

Thinking thinking_for(const model::ChatRequest& request, const Family& family, const History& history,
                      std::int64_t most_output, Losses& losses) {
  if (!request.reasoning) return {};
  const std::string_view field = name_of(Field::Reasoning, request.dialect);
  if (request.dialect == model::Dialect::Anthropic) {
    Thinking said = as_said(*request.reasoning);
    // The client did send the thoughts that are missing; they were another model's.
    if (said.mode == Mode::Budget && history.lost_thoughts && history.in_unsigned_tool_loop()) {
      losses.push_back({std::string(field), loss::kNotTogether});
      said.mode = Mode::Absent;
      said.given_up = true;
    }
    return said;
  }
  Thinking out = wished(*request.reasoning, family.thinking);
  if (family.thinking == ThinkingForm::None &&
      effort_of(*request.reasoning).value_or(Effort::None) != Effort::None)
    losses.push_back({std::string(field), loss::kNoSuchField});
  const bool always = family.thinking == ThinkingForm::Always;
  if (always && effort_of(*request.reasoning) == Effort::None)
    losses.push_back({std::string(field), loss::kNearest});
  if (!out.on()) return out;

  const bool budgeted = out.mode == Mode::Budget;
  const bool forced = family.takes_forced && forces_a_tool(request);
  const bool no_room = budgeted && most_output <= kLeastBudget;
  const bool unsigned_loop = budgeted && history.in_unsigned_tool_loop();
  if (forced || history.has_prefill() || no_room || unsigned_loop) {
    // What always thinks does so beside a forced tool, too, but is not told.
    if (!always || out.shown) losses.push_back({std::string(field), loss::kNotTogether});
    out.mode = family.thinking == ThinkingForm::Budget || always ? Mode::Absent : Mode::Disabled;
    return out;
  }
  if (budgeted) {
    // Half of a small limit is left for the answer.
    const std::int64_t most = out.budget < most_output ? out.budget : most_output / 2;
    const std::int64_t budget = std::max(most, kLeastBudget);
    if (budget != out.budget) losses.push_back({std::string(field), loss::kOutOfRange});
    out.budget = budget;
  }
  return out;
}

void write_thinking(wire::JsonWriter& json, const Thinking& thinking) {
  if (thinking.mode == Mode::Absent) return;
  json.key("thinking").begin_object();
  if (thinking.mode == Mode::Disabled) {
    json.member("type", "disabled");
  } else if (thinking.mode == Mode::Adaptive) {
    json.member("type", "adaptive");
  } else {
    json.member("type", "enabled").member("budget_tokens", thinking.budget);
  }
  if (thinking.shown && thinking.on()) json.member("display", *thinking.shown ? "summarized" : "omitted");
  json.end_object();
}

}  // namespace qq::dialects::anthropic
