#include "relay/translated_flow.h"

namespace qq::relay {

using model::StreamEvent;

TranslatedFlow::TranslatedFlow(std::unique_ptr<dialects::StreamDecoder> decoder,
                               dialects::StreamEncoder& encoder, bool join_line_breaks)
    : decoder_(std::move(decoder)), facts_(encoder, join_line_breaks) {}

TranslatedFlow::Encoding::Encoding(dialects::StreamEncoder& encoder, bool join_line_breaks)
    : encoded_(encoder) {
  if (join_line_breaks) joined_.emplace();
}

void TranslatedFlow::Encoding::on_event(const StreamEvent& event) {
  if (encoded_.encoder.fault() != nullptr) return;
  const bool is_broken = event.kind == StreamEvent::Kind::Finished && event.finish == model::Finish::Broken;
  if (event.kind == StreamEvent::Kind::End && broken_) return fail_if_broken();
  NeutralFacts::on_event(event);
  if (is_broken) broken_ = broken_generation(event.word);
  if (is_broken || event.kind == StreamEvent::Kind::Failed) return;
  if (event.kind == StreamEvent::Kind::End) closed_ = true;
  if (joined_) {
    joined_->take(event, encoded_);
  } else {
    encoded_.on_event(event);
  }
  if (const Error* const fault = encoded_.encoder.fault()) fail_with(*fault);
}

void TranslatedFlow::Encoding::fail_with(const Error& error) {
  StreamEvent failed;
  failed.kind = StreamEvent::Kind::Failed;
  failed.error = &error;
  NeutralFacts::on_event(failed);
}

void TranslatedFlow::Encoding::fail_if_broken() {
  if (broken_ && !error()) fail_with(*broken_);
}

void TranslatedFlow::Encoding::close(std::string& into) {
  if (closed_) return;
  closed_ = true;
  StreamEvent end;
  end.kind = StreamEvent::Kind::End;
  write_to(into);
  encoded_.on_event(end);
}

void TranslatedFlow::feed(std::string_view bytes, BodyEnd end, Output& output) {
  facts_.write_to(output.storage);
  const std::optional<std::uint64_t> frames = decoder_->frames();
  decoder_->feed(bytes, facts_);
  if (end == BodyEnd::Proper && !facts_.error() && !facts_.end_seen()) decoder_->finish(facts_);
  if (end == BodyEnd::Broken && !facts_.error() && !facts_.end_seen()) {
    UsageOnly usage(facts_);
    decoder_->feed("\n\n", usage);
  }
  if (end != BodyEnd::NotYet) facts_.fail_if_broken();
  if (facts_.error()) {
    output.error = facts_.error();
  } else if (end != BodyEnd::NotYet && facts_.ended()) {
    facts_.close(output.storage);
  }
  output.out[0] = output.storage;
  // Half a line does not count as news, nor does half a frame; whatever byte is in it.
  const bool any_whole = frames ? decoder_->frames() != frames : bytes.find('\n') != std::string_view::npos;
  output.line = !output.storage.empty() || any_whole;
  output.content = facts_.content_seen();
  output.ended = facts_.end_seen() && !facts_.error();
}

void TranslatedFlow::close(std::string& out) {
  facts_.close(out);
}

std::optional<ErrorKind> TranslatedFlow::fault_at_end() const noexcept {
  return ended() ? std::nullopt : std::optional(ErrorKind::StreamCut);
}

}  // namespace qq::relay
