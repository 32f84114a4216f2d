#include "dialects/anthropic/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "dialects/anthropic/blocks.h"
#include "dialects/losses.h"

namespace qq::dialects::anthropic {
namespace {

using model::Part;
using model::Role;

// What is said where something must be and nothing is.
const Part& placeholder() {
  static const Part kDot(model::TextPart{.text = ".", .citations = {}});
  return kDot;
}

void results_first(std::vector<const Part*>& parts) {
  const auto is_result = [](const Part* part) { return part->as<model::ToolResultPart>() != nullptr; };
  std::vector<const Part*> rest;
  std::ranges::copy_if(parts, std::back_inserter(rest), std::not_fn(is_result));
  std::erase_if(parts, std::not_fn(is_result));
  parts.insert(parts.end(), rest.begin(), rest.end());
}

class Builder {
 public:
  Builder(const model::ChatRequest& request, Losses& losses, Prefill prefill, model::Dialect native)
      : request_(request), losses_(losses), prefill_(prefill), native_(native) {}

  History build() {
    for (const model::Turn& turn : request_.turns) take(turn);
    end_with_something();
    if (history_.messages.empty() || history_.messages.front().role == Role::Assistant) {
      history_.messages.insert(history_.messages.begin(), Message{Role::User, {&placeholder()}});
      losses_.push_back({"messages", loss::kNearest});
    }
    if (prefill_ == Prefill::Refused && request_.dialect != native_ && history_.has_prefill()) {
      history_.messages.push_back(Message{Role::User, {&placeholder()}});
      losses_.push_back({"messages", loss::kNearest});
    }
    for (Message& message : history_.messages) results_first(message.parts);
    return std::move(history_);
  }

 private:
  void take(const model::Turn& turn) {
    const bool is_system = turn.role == Role::System || turn.role == Role::Developer;
    // Late system messages are Anthropic's own (a beta): who wrote one gets it there.
    const bool stays = is_system && !history_.messages.empty() && request_.dialect == native_;
    if (is_system && !stays) {
      for (const Part& part : turn.parts) {
        if (keeps(part, turn.role)) history_.system.push_back(&part);
      }
      return;
    }
    last_user_was_blank_ = turn.role == Role::User;
    Message* message = nullptr;
    if (!history_.messages.empty() && history_.messages.back().role == turn.role)
      message = &history_.messages.back();
    for (const Part& part : turn.parts) {
      if (!keeps(part, turn.role)) continue;
      if (message == nullptr) message = &history_.messages.emplace_back(Message{turn.role, {}, &turn});
      message->parts.push_back(&part);
      last_user_was_blank_ = false;
    }
  }

  // Otherwise an answer before it would be taken for the beginning of the next one.
  void end_with_something() {
    if (last_user_was_blank_ && !history_.messages.empty() && history_.has_prefill())
      history_.messages.push_back(Message{Role::User, {&placeholder()}});
  }

  bool keeps(const Part& part, Role role) {
    if (const auto* text = part.as<model::TextPart>()) return !is_blank(text->text);
    if (const auto* refusal = part.as<model::RefusalPart>()) return !is_blank(refusal->text);
    if (const auto* opaque = part.as<model::OpaquePart>())
      return opaque->dialect == native_ && role != Role::System;
    if (const auto* reasoning = part.as<model::ReasoningPart>()) return keeps_thought(*reasoning, part);
    if (part.as<model::MediaPart>() != nullptr) {
      if (role == Role::User) return true;
      report(media_lost_, "messages[].content", loss::kNoPlace);
      return false;
    }
    history_.has_calls = true;
    return true;
  }
  bool keeps_thought(const model::ReasoningPart& reasoning, const Part& part) {
    if (!part.state.empty() && part.state.maker == native_) return true;
    history_.lost_thoughts = true;
    // A foreign state is a loss of the table's.
    if (part.state.empty() && !reasoning.text.empty())
      report(thought_lost_, "messages[].reasoning", loss::kForeignState);
    return false;
  }
  void report(bool& done, std::string field, std::string_view why) {
    if (!std::exchange(done, true)) losses_.push_back({std::move(field), why});
  }

  const model::ChatRequest& request_;
  Losses& losses_;
  Prefill prefill_;
  model::Dialect native_;
  History history_;
  bool last_user_was_blank_ = false;
  bool media_lost_ = false;
  bool thought_lost_ = false;
};

constexpr bool is_id_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string clean_id(std::string_view id, std::size_t longest) {
  std::string out(id);
  std::uint32_t hash = 2166136261U;  // FNV-1a, so that ids which differ in other letters only stay different
  bool clean = true;
  for (char& c : out) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    if (is_id_letter(c)) continue;
    c = '_';
    clean = false;
  }
  if (clean && out.size() <= longest) return out;
  constexpr std::size_t kHash = 9;  // with its '_'
  if (out.size() + kHash > longest) out.resize(longest - kHash);
  return fmt::format("{}_{:08x}", out, hash);
}

}  // namespace

bool History::in_unsigned_tool_loop() const noexcept {
  if (messages.size() < 2 || messages.back().parts.empty()) return false;
  if (messages.back().parts.front()->as<model::ToolResultPart>() == nullptr) return false;
  const Message& asking = messages[messages.size() - 2];
  return asking.role == Role::Assistant && asking.parts.front()->as<model::ReasoningPart>() == nullptr;
}

History history_of(const model::ChatRequest& request, Losses& losses, Prefill prefill,
                   model::Dialect native) {
  return Builder(request, losses, prefill, native).build();
}

std::vector<std::string_view> tools_called(const History& history) {
  std::vector<std::string_view> names;
  std::set<std::string_view> known;
  for (const Message& message : history.messages) {
    for (const Part* part : message.parts) {
      const auto* call = part->as<model::ToolCallPart>();
      if (call != nullptr && known.insert(call->name).second) names.push_back(call->name);
    }
  }
  return names;
}

std::string_view CallIds::of_call(const model::ToolCallPart& call) {
  std::string mapped = call.id.empty() ? fmt::format("call_{}", mapped_.size()) : clean_id(call.id, longest_);
  if (!used_.insert(mapped).second) {
    std::size_t& again = again_.try_emplace(mapped, 2).first->second;
    do {
      const std::string number = fmt::format("-{}", again++);
      mapped = clean_id(call.id, longest_ - number.size()) + number;
    } while (!used_.insert(mapped).second);
  }
  calls_.add(call.id, call.name);
  return mapped_.emplace_back(std::move(mapped));
}

std::string_view CallIds::of_result(const model::ToolResultPart& result) {
  // Without an id, results come in the order of the calls of their name. Of calls with one id the first is
  // meant that has no result; ids may come again in a later turn.
  const bool by_id = !result.call_id.empty();
  if (const auto open = by_id ? calls_.open_with_id(result.call_id) : calls_.open_named(result.name)) {
    calls_.close(*open);
    return mapped_[*open];
  }
  if (const auto last = by_id ? calls_.last_with_id(result.call_id) : calls_.last_named(result.name))
    return mapped_[*last];
  unknown_ = clean_id(result.call_id.empty() ? result.name : result.call_id, longest_);
  return unknown_;
}

}  // namespace qq::dialects::anthropic
