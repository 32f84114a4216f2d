#include "dialects/line_breaks.h"

#include <algorithm>

#include "dialects/openai/event_edit.h"
#include "wire/json.h"
#include "wire/json_patch.h"

namespace qq::dialects {
namespace {

using Kind = model::StreamEvent::Kind;

// A stream of nothing but line breaks is not held for ever.
constexpr std::size_t kHeldMax = 4096;

// Leaves in `held` the line breaks that end it together with `piece`; what stands before them.
std::string take_text(std::string& held, std::string_view piece) {
  held += piece;
  std::size_t shown = held.find_last_not_of("\r\n") + 1;  // npos + 1 is 0
  if (held.size() - shown > kHeldMax) shown = held.size();
  std::string text = held.substr(0, shown);
  held.erase(0, shown);
  return text;
}

}  // namespace

void JoinedLineBreaks::take(const model::StreamEvent& event, EventSink& sink) {
  const bool is_text = event.kind == Kind::TextDelta;
  // A signature is of the text before it, and a citation stands behind it.
  const bool ends_text =
      event.kind == Kind::PartFinished || event.kind == Kind::StateDelta || event.kind == Kind::CitationDelta;
  if (!is_text && !ends_text) return sink.on_event(event);
  auto held = std::ranges::find(held_, event.part, &Held::part);
  if (is_text) {
    if (held == held_.end()) held = held_.insert(held, {.part = event.part, .breaks = {}});
    const std::string text = take_text(held->breaks, event.text);
    if (text.empty()) return;
    model::StreamEvent joined = event;
    joined.text = text;
    return sink.on_event(joined);
  }
  if (held != held_.end()) {
    const std::string rest = std::move(held->breaks);
    held_.erase(held);
    model::StreamEvent last = event;
    last.kind = Kind::TextDelta;
    last.text = rest;
    if (!rest.empty()) sink.on_event(last);
  }
  sink.on_event(event);
}

bool JoinedLineBreakEvents::take(std::string_view name, std::string_view data, std::string& out) {
  if (name == "ping") return false;
  if (name == "content_block_delta" && !wire::check_json(data)) {
    const wire::JsonValue document(data);
    const auto type = document.at("delta", "type");
    const auto text = document.at("delta", "text");
    const auto index = document.member("index");
    if (type && type->raw_string() == "text_delta" && text && text->is_string() && index) {
      index_ = index->text();
      const std::string said = text->string();
      const std::string joined = take_text(held_, said);
      if (joined == said) return false;  // nothing waited, nothing has to
      if (joined.empty()) return true;
      std::string own;
      std::string edited;
      for (const std::string_view piece : wire::with_other_string(data, *text, joined, own)) edited += piece;
      openai::append_event(out, name, edited);
      return true;
    }
  }
  if (held_.empty()) return false;
  std::string flushed =
      R"({"type":"content_block_delta","index":)" + index_ + R"(,"delta":{"type":"text_delta","text":)";
  wire::append_json_string(flushed, held_);
  flushed += "}}";
  held_.clear();
  openai::append_event(out, "content_block_delta", flushed);
  return false;
}

}  // namespace qq::dialects
