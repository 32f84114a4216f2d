#include "dialects/openai_chat/stream_calls.h"

#include <algorithm>

#include "base/text.h"
#include "dialects/made_ids.h"
#include "dialects/openai_chat/words.h"
#include "wire/json_text.h"

namespace qq::dialects::openai_chat {

using model::PartKind;
using model::StreamEvent;

void CallStream::Delta::read_function(wire::JsonValue function) {
  for (wire::JsonMembers members(function); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "name" && members.is_string()) name = members.value().string();
    if ((key == "arguments" || key == "input") && !members.is_null())
      arguments = wire::text_of(members.value());
  }
}

bool CallStream::take(wire::JsonValue call, EventOut& out) {
  Delta delta;
  for (wire::JsonMembers members(call); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "id") {
      delta.id = wire::text_of(value);
    } else if (key == "index") {
      delta.index = value.integer().value_or(-1);
    } else if (key == "function" || key == "custom") {
      delta.custom = key == "custom";
      delta.read_function(value);
    } else if (key == "extra_content" && value.is_object()) {
      delta.state = value;
    }
  }
  return take(std::move(delta), out);
}

bool CallStream::take_function(wire::JsonValue function, EventOut& out) {
  Delta delta;
  delta.read_function(function);
  return take(std::move(delta), out);
}

bool CallStream::is_another(const Call& call, const Delta& delta) noexcept {
  if (!delta.id.empty() && !call.id.empty() && delta.id != call.id) return true;
  if (delta.name.empty() || call.name.empty()) return false;
  return delta.name != call.name ||
         (delta.id.empty() && call.arguments.complete() && !trimmed(delta.arguments).empty());
}

bool CallStream::take(Delta delta, EventOut& out) {
  const auto last = std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) {
    return delta.index < 0 || call.index == delta.index;
  });
  const bool another = last == calls_.rend() || is_another(*last, delta);
  const bool blank = trimmed(delta.arguments).empty();
  if (another && delta.id.empty() && delta.name.empty() && blank) return true;
  if (!another && last->closed) return blank;
  if (another) {
    // Calls that are whole get nothing more.
    for (Call& call : calls_) {
      if (call.is_whole()) close(call, out);
    }
    Call& made = calls_.emplace_back();
    made.index = delta.index;
    made.custom = delta.custom;
  }
  Call& call = another ? calls_.back() : *last;
  if (call.id.empty()) call.id = std::move(delta.id);
  if (call.name.empty()) call.name = std::move(delta.name);
  if (!call.started && !call.name.empty()) start(call, delta.state, out);
  if (!call.any && delta.arguments == "null") return true;
  call.any = call.any || !delta.arguments.empty();
  if (call.started) {
    add(call, delta.arguments, out);
  } else {
    call.early += delta.arguments;
  }
  if (&call != &calls_.back() && call.is_whole()) close(call, out);
  return true;
}

void CallStream::start(Call& call, wire::JsonValue state, EventOut& out) {
  call.started = true;
  call.part = out.parts++;
  const std::string id = call.id.empty() ? made_call_id(id_seed_, call.part) : call.id;
  StreamEvent event{.kind = StreamEvent::Kind::PartStarted,
                    .part_kind = PartKind::ToolCall,
                    .choice = choice_,
                    .part = call.part,
                    .id = id,
                    .name = call.name,
                    .custom = call.custom};
  out.sink->on_event(event);
  if (state.is_object()) {
    const model::OpaqueState told{model::Dialect::OpenAiChat, std::string(state.text())};
    event = {.kind = StreamEvent::Kind::StateDelta,
             .part_kind = PartKind::ToolCall,
             .choice = choice_,
             .part = call.part,
             .state = &told};
    out.sink->on_event(event);
  }
  add(call, call.early, out);
}

void CallStream::add(Call& call, std::string_view piece, EventOut& out) const {
  if (piece.empty()) return;
  call.is_json = call.arguments.feed(piece) && call.is_json;
  out.sink->on_event({.kind = StreamEvent::Kind::ArgumentsDelta,
                      .part_kind = PartKind::ToolCall,
                      .choice = choice_,
                      .part = call.part,
                      .text = piece});
}

void CallStream::close(Call& call, EventOut& out) const {
  if (std::exchange(call.closed, true) || !call.started) return;
  out.sink->on_event({.kind = StreamEvent::Kind::PartFinished,
                      .part_kind = PartKind::ToolCall,
                      .choice = choice_,
                      .part = call.part});
}

void CallStream::close(EventOut& out) {
  for (Call& call : calls_) close(call, out);
}

bool CallStream::any_cut_short() const noexcept {
  return std::ranges::any_of(calls_, [](const Call& call) {
    return call.started && !call.custom && call.is_json && call.arguments.begun() &&
           !call.arguments.complete();
  });
}

bool CallStream::has_unnamed() const noexcept {
  return std::ranges::any_of(calls_, [](const Call& call) { return !call.started && call.any; });
}

}  // namespace qq::dialects::openai_chat
