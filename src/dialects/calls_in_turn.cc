#include "dialects/calls_in_turn.h"

#include <algorithm>

namespace qq::dialects {

namespace {

using model::StreamEvent;
using EventKind = StreamEvent::Kind;

// What a call costs beside its texts, so that a million empty ones are too many as well.
constexpr std::size_t kCallBytes = 256;

bool is_of_a_part(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::PartStarted:
    case EventKind::TextDelta:
    case EventKind::ArgumentsDelta:
    case EventKind::StateDelta:
    case EventKind::CitationDelta:
    case EventKind::MediaDelta:
    case EventKind::OpaqueDelta:
    case EventKind::PartFinished: return true;
    default: return false;
  }
}

}  // namespace

bool CallsInTurn::take(const StreamEvent& event, EventSink& sink) {
  if (!is_of_a_part(event.kind)) {
    sink.on_event(event);
    return true;
  }
  if (!open_ && event.kind == EventKind::PartStarted) open_ = event.part;
  if (open_ != event.part) return hold(event);
  sink.on_event(event);
  if (event.kind != EventKind::PartFinished) return true;
  open_.reset();
  while (!open_ && !waiting_.empty()) {
    const Held next = std::move(waiting_.front());
    waiting_.pop_front();
    tell(next, sink);
  }
  return true;
}

bool CallsInTurn::hold(const StreamEvent& event) {
  if (event.kind == EventKind::PartStarted) {
    Held& call = waiting_.emplace_back();
    call.choice = event.choice;
    call.part = event.part;
    call.id = event.id;
    call.name = event.name;
    call.dialect = event.dialect;
    call.custom = event.custom;
    if (event.state != nullptr) call.state = *event.state;
    bytes_ += kCallBytes + event.id.size() + event.name.size() + call.state.data.size();
    return bytes_ <= kHeldMax;
  }
  const auto call = std::ranges::find(waiting_, event.part, &Held::part);
  if (call == waiting_.end()) return true;  // no grammar has it
  if (event.kind == EventKind::ArgumentsDelta) call->arguments += event.text;
  if (event.kind == EventKind::StateDelta) call->state = *event.state;
  if (event.kind == EventKind::PartFinished) call->finished = true;
  bytes_ += event.text.size() + (event.kind == EventKind::StateDelta ? event.state->data.size() : 0);
  return bytes_ <= kHeldMax;
}

void CallsInTurn::tell(const Held& call, EventSink& sink) {
  bytes_ -= kCallBytes + call.id.size() + call.name.size() + call.state.data.size() + call.arguments.size();
  StreamEvent event{.kind = EventKind::PartStarted,
                    .part_kind = model::PartKind::ToolCall,
                    .choice = call.choice,
                    .part = call.part,
                    .id = call.id,
                    .name = call.name,
                    .dialect = call.dialect,
                    .custom = call.custom};
  open_ = call.part;
  sink.on_event(event);
  event.id = event.name = {};
  if (!call.state.empty()) {
    event.kind = EventKind::StateDelta;
    event.state = &call.state;
    sink.on_event(event);
    event.state = nullptr;
  }
  if (!call.arguments.empty()) {
    event.kind = EventKind::ArgumentsDelta;
    event.text = call.arguments;
    sink.on_event(event);
    event.text = {};
  }
  if (!call.finished) return;
  event.kind = EventKind::PartFinished;
  sink.on_event(event);
  open_.reset();
}

}  // namespace qq::dialects
