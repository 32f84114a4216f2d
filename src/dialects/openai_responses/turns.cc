#include "dialects/openai_responses/turns.h"

#include <algorithm>
#include <ranges>

namespace qq::dialects::openai_responses {

model::Turn& TurnBuilder::turn_for(const DecodedItem& item) {
  Open wanted = Open::Nothing;
  if (item.role == model::Role::Assistant) wanted = Open::Assistant;
  if (item.role == model::Role::User && item.kind != DecodedItem::Kind::Message) wanted = Open::Results;
  const bool message = item.kind == DecodedItem::Kind::Message;
  const bool full = has_message_ && (message || item.kind == DecodedItem::Kind::Reasoning);
  if (wanted == Open::Nothing || wanted != open_ || full) {
    turns_.push_back({.role = item.role, .parts = {}, .name = {}, .extra = {}});
    has_message_ = false;
  }
  open_ = wanted;
  has_message_ = has_message_ || message;
  return turns_.back();
}

const model::ToolCallPart* TurnBuilder::call_of(std::string_view id) const {
  // The call of a result stands near the end as a rule.
  for (const model::Turn& turn : turns_ | std::views::reverse) {
    for (const model::Part& part : turn.parts | std::views::reverse) {
      const auto* call = part.as<model::ToolCallPart>();
      if (call != nullptr && call->id == id) return call;
    }
  }
  return nullptr;
}

// Thoughts that travelled in a call's id, unless the client sent them itself.
void TurnBuilder::bring_back(std::vector<model::Part> thoughts) {
  for (model::Part& thought : thoughts) {
    const bool known = std::ranges::any_of(turns_, [&](const model::Turn& turn) {
      return std::ranges::find(turn.parts, thought.state, &model::Part::state) != turn.parts.end();
    });
    if (known) continue;
    DecodedItem item{.kind = DecodedItem::Kind::Reasoning};
    item.parts.push_back(std::move(thought));
    add(std::move(item));
  }
}

void TurnBuilder::add(DecodedItem item) {
  bring_back(std::exchange(item.carried.reasoning, {}));
  if (item.kind == DecodedItem::Kind::Result) {
    for (model::Part& part : item.parts) {
      auto* result = part.as<model::ToolResultPart>();
      const model::ToolCallPart* const call = call_of(result->call_id);
      if (call != nullptr && result->name.empty()) result->name = call->name;
      // Where the call is not in sight, only this says which kind it was.
      if (call == nullptr && item.custom) part.extra.push_back({"type", "\"custom_tool_call_output\""});
    }
  }
  model::Turn& turn = turn_for(item);
  for (model::Part& part : item.parts) turn.parts.push_back(std::move(part));
}

}  // namespace qq::dialects::openai_responses
