#include "dialects/openai_responses/turns.h"

#include <utility>

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

// Thoughts that travelled in a call's id, unless the client sent them itself.
void TurnBuilder::bring_back(std::vector<model::Part> thoughts) {
  for (model::Part& thought : thoughts) {
    if (!states_) {
      states_.emplace();
      for (const model::Turn& turn : turns_) states_->add(turn.parts);
    }
    if (!states_->add(thought.state)) continue;
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
      const auto name = names_.find(result->call_id);
      if (name != names_.end() && result->name.empty()) result->name = name->second;
      // Where the call is not in sight, only this says which kind it was.
      if (name == names_.end() && item.custom) part.extra.push_back({"type", "\"custom_tool_call_output\""});
    }
  }
  for (const model::Part& part : item.parts) {
    if (const auto* call = part.as<model::ToolCallPart>()) names_[call->id] = call->name;
  }
  if (states_) states_->add(item.parts);
  model::Turn& turn = turn_for(item);
  for (model::Part& part : item.parts) turn.parts.push_back(std::move(part));
}

}  // namespace qq::dialects::openai_responses
