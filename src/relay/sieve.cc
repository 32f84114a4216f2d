#include "relay/sieve.h"

#include <algorithm>

#include "dialects/openai/answer.h"
#include "dialects/openai/request.h"

namespace qq::relay {
namespace {

namespace openai = dialects::openai;

// Whether the two together end with LF CR: an empty line of a stream whose lines end with CRLF.
bool ends_in_half_a_line_end(std::string_view first, std::string_view second) noexcept {
  const std::string_view last = second.empty() ? first : second;
  if (!last.ends_with('\r')) return false;
  return last.size() > 1 ? last[last.size() - 2] == '\n' : !second.empty() && first.ends_with('\n');
}

}  // namespace

Sieve::Sieve(const RequestState& state, const model::Target& target)
    : judge_(state.incoming.endpoint, target), decoder_(state.snapshot.limits.event_max) {
  judge_.expect_choices(state.facts.choices);
  rules_.usage_forced = openai::usage_was_forced(state.facts, state.incoming.endpoint, target);
  rules_.rename_model = openai::name_to_restore(state.facts.model, target);
  if (rules_.rename_model.empty()) return;
  wire::append_json_string(model_json_, rules_.rename_model);
  rules_.rename_json = model_json_;
}

std::span<const std::string_view> Sieve::pass(std::string_view bytes, Pieces& pieces) noexcept {
  if (bytes.size() > may_pass_) return {};
  openai::DeltaFacts facts;
  std::string_view data;
  if (judge_.judge_alike(bytes, data, facts) != bytes.size()) return {};
  if (edits_alike_) {
    if (openai::renames(rules_, facts) || openai::strips_null(rules_, facts)) {
      openai::splice_event(rules_, facts, bytes, pieces);
      return pieces;
    }
    edits_alike_ = false;
  }
  pieces[0] = bytes;
  return {pieces.data(), 1};
}

void Sieve::feed(std::string_view bytes, BodyEnd end, Output& output) {
  std::size_t consumed = 0;
  std::size_t kept_from = 0;   // raw bytes from here on are not in the output yet
  std::size_t event_from = 0;  // where the current event begins
  std::string& edited = output.storage;
  bool editing = false;
  wire::SseEvent event;
  const auto flush_raw = [&](std::size_t upto) {
    edited.append(tail_).append(bytes.substr(kept_from, upto - kept_from));
    tail_.clear();
    kept_from = upto;
  };
  for (;;) {
    openai::EventFacts facts;
    if (!next(bytes, consumed, event, facts)) break;
    if (facts.error) {
      output.error = *facts.error;
      break;
    }
    const openai::Edit edit = openai::edit_of(rules_, facts, event);
    if (edit != openai::Edit::Keep) {
      if (!editing) edited.reserve(tail_.size() + bytes.size() + bytes.size() / 4 + 64);
      editing = true;
      // The event's own raw bytes: the tail belongs to it if it is the first of this step.
      std::string raw_storage;
      std::string_view raw = bytes.substr(event_from, event.end - event_from);
      if (event_from == 0 && !tail_.empty()) {
        raw_storage = tail_ + std::string(raw);
        raw = raw_storage;
        tail_.clear();
      } else if (kept_from < event_from || !tail_.empty()) {
        flush_raw(event_from);
      }
      openai::edit_event(rules_, facts, event, raw, edited);
      kept_from = event.end;
    }
    event_from = event.end;
    if (facts.done_marker) {
      output.ended = true;
      break;
    }
  }
  if (!output.error && decoder_.verdict() == wire::SseDecoder::Verdict::EventTooBig) {
    output.error = Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                   "one event of the provider's stream is too large for this gateway "
                                   "(limits.event_max)");
  }
  // Whole events go out; an unfinished one waits for its end, so that the client only ever sees whole ones.
  // Comments and blank lines between events need no waiting: what is kept is as large as an event may be.
  const bool at_border = decoder_.at_border();
  std::size_t whole = event_from;
  if (!output.error && !output.ended) whole = bytes.size() - std::min(decoder_.unfinished(), bytes.size());
  if (end == BodyEnd::Proper && !output.error && !output.ended && whole < bytes.size() + tail_.size()) {
    // The provider ended without the closing blank line: what parses is an event all the same. Half an
    // event is none, and no client is to see it.
    if (decoder_.finish(event) && is_whole_event(event.data)) {
      const openai::EventFacts facts = judge_.judge(event);
      if (facts.error) {
        output.error = *facts.error;
      } else {
        editing = true;
        if (whole > kept_from) flush_raw(whole);
        tail_.clear();  // else it is the event's own beginning
        if (openai::edit_event(rules_, facts, event, {}, edited) == openai::Edit::Keep) {
          openai::append_event(edited, event.name, event.data);
        }
        kept_from = whole = bytes.size();
      }
    }
  }
  if (end == BodyEnd::Broken && !output.error && !output.ended && decoder_.finish(event) &&
      is_whole_event(event.data)) {
    judge_.take_usage_of(event);
  }
  if (editing) {
    if (whole > kept_from) flush_raw(whole);
    output.out[0] = edited;
  } else if (whole > 0 || (at_border && !output.error)) {
    edited = std::move(tail_);
    tail_.clear();
    output.out[0] = edited;
    output.out[1] = bytes.substr(0, whole);
  }
  if (output.ended && ends_in_half_a_line_end(output.out[0], output.out[1])) output.line_end = "\n";
  if (!output.error && !output.ended) tail_.append(bytes.substr(whole));
  may_pass_ = tail_.empty() ? decoder_.may_pass() : 0;
  edits_alike_ = rules_.usage_forced || !rules_.rename_model.empty();  // the shape may be a new one
  output.line = event_from > 0 || bytes.find('\n') != std::string_view::npos ||
                bytes.find('\r') != std::string_view::npos;
  output.content = judge_.content_seen();
  if (tail_.empty() && tail_.capacity() > 256) std::string().swap(tail_);
}

bool Sieve::next(std::string_view bytes, std::size_t& consumed, wire::SseEvent& event,
                 openai::EventFacts& facts) {
  const std::size_t begin = consumed;
  if (bytes.size() <= decoder_.may_pass()) {
    if (const std::size_t size = judge_.judge_alike(bytes.substr(begin), event.data, facts)) {
      consumed += size;
      event = {.data = event.data, .has_data = true, .end = consumed};
      return true;
    }
  }
  if (!decoder_.next(bytes, consumed, event)) return false;
  // The event's own raw bytes, unless they begin in the tail.
  const bool is_here = tail_.empty() || begin > 0;
  const std::string_view raw = bytes.substr(begin, event.end - begin);
  if (event.has_data) {
    // Events that are written anew are no shape to pass by.
    facts = judge_.judge(event, is_here && !event.indented ? raw : std::string_view());
  } else {
    facts = is_here ? judge_.judge_raw(raw) : judge_.judge_raw(tail_ + std::string(raw));
  }
  return true;
}

}  // namespace qq::relay
