#include "relay/native_flow.h"

#include "dialects/native_answer.h"
#include "dialects/openai/event_edit.h"
#include "wire/json_patch.h"

namespace qq::relay {

NativeFlow::NativeFlow(model::Dialect dialect, const model::Target& target, std::string_view id_seed,
                       std::string_view rename_model, std::size_t event_max, std::uint32_t choices)
    : dialect_(dialect),
      rename_model_(rename_model),
      decoder_(dialects::provider_dialect(dialect)->stream_decoder(target, id_seed)),
      borders_(event_max) {
  decoder_->expect_choices(choices);
  if (target.joins_line_breaks && dialect == model::Dialect::Anthropic) joined_.emplace();
}

// `raw` are the event's bytes on the wire.
void NativeFlow::take_event(std::string_view raw, const wire::SseEvent& event, std::string& out) {
  decoder_->feed(raw, facts_);
  if (facts_.error()) return;  // what broke the stream is told in our words
  if (joined_ && event.has_data && joined_->take(event.name, event.data, out)) return;
  if (!rename_model_.empty() && event.has_data) {
    if (const auto value = dialects::model_of_event(dialect_, event.data)) {
      std::string own;
      std::string data;
      for (const std::string_view piece : wire::with_other_string(event.data, *value, rename_model_, own)) {
        data.append(piece);
      }
      dialects::openai::append_event(out, event.name, data);
      return;
    }
  }
  out.append(raw);
}

void NativeFlow::feed(std::string_view bytes, BodyEnd end, Output& output) {
  std::string& out = output.storage;
  std::size_t consumed = 0;
  std::size_t from = 0;  // where the current event begins
  wire::SseEvent event;
  while (!facts_.error() && borders_.next(bytes, consumed, event)) {
    tail_.append(bytes.substr(from, event.end - from));
    take_event(tail_, event, out);
    tail_.clear();
    from = event.end;
  }
  if (!facts_.error() && borders_.verdict() == wire::SseDecoder::Verdict::EventTooBig) {
    output.error = Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                   "one event of the provider's stream is too large for this gateway "
                                   "(limits.event_max)");
  }
  if (!facts_.error() && !output.error) {
    tail_.append(bytes.substr(from));
    // Comments and blank lines between events go on at once; so does the end of a body without its last line
    // end, which reads as an event all the same.
    if (borders_.at_border() && end == BodyEnd::NotYet) {
      decoder_->feed(tail_, facts_);
      out.append(tail_);
      tail_.clear();
    }
    if (end == BodyEnd::Proper) {
      // What parses is an event without its closing blank line, too. Half an event is none, and no client is
      // to see it: what it cut is for the decoder to say.
      if (borders_.finish(event) && is_whole_event(event.data)) {
        tail_.append("\n\n");
        decoder_->feed(tail_, facts_);
        if (!facts_.error()) dialects::openai::append_event(out, event.name, event.data);
      }
      tail_.clear();
      if (!facts_.error()) decoder_->finish(facts_);
    }
    if (end == BodyEnd::Broken && !facts_.error()) {
      UsageOnly usage(facts_);
      tail_.append("\n\n");
      decoder_->feed(tail_, usage);
      tail_.clear();
    }
  }
  if (facts_.error()) output.error = facts_.error();
  output.out[0] = out;
  output.line = bytes.find_first_of("\r\n") != std::string_view::npos;
  output.content = facts_.content_seen();
  output.ended = facts_.end_seen() && !facts_.error();
}

std::optional<ErrorKind> NativeFlow::fault_at_end() const noexcept {
  return facts_.ended() ? std::nullopt : std::optional(ErrorKind::StreamCut);
}

}  // namespace qq::relay
