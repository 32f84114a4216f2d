#include "relay/stream.h"

#include <span>

#include "dialects/openai/event_edit.h"
#include "dialects/openai/stream.h"
#include "providers/masking.h"
#include "providers/upstream_error.h"
#include "relay/answer.h"
#include "relay/content_type.h"
#include "relay/delivery.h"
#include "relay/reply_head.h"
#include "relay/usage_drain.h"

namespace qq::relay {
namespace {

namespace openai = dialects::openai;
using Piece = UpstreamReply::Piece;

// What may be held of a stream before its first content: more than this is no preamble.
constexpr std::size_t kHeldMax = 1U << 20U;
// After the stream's end, how long the provider's own end of body is awaited so that its connection can be
// used again.
constexpr Milliseconds kTrailingEnd{50};

// The judging of one stream: bytes in, bytes for the client out. Not a coroutine, so that what it needs
// while it works is on the stack and not in the frame of an idle stream.
class Sieve {
 public:
  Sieve(const Sieve&) = delete;
  Sieve& operator=(const Sieve&) = delete;
  Sieve(const RequestState& state, const model::Target& target)
      : judge_(state.incoming.endpoint, target), decoder_(state.snapshot.limits.event_max) {
    rules_.usage_forced = openai::usage_was_forced(state.facts, state.incoming.endpoint, target);
    rules_.rename_model = openai::name_to_restore(state.facts.model, target);
    if (rules_.rename_model.empty()) return;
    wire::append_json_string(model_json_, rules_.rename_model);
    rules_.rename_json = model_json_;
  }

  // What came of one step. `out` are whole events for the client, views into the bytes given and into
  // `storage`.
  struct Output {
    std::array<std::string_view, 2> out;
    std::string_view line_end;  // of a last line whose CR came without its LF, which nobody waits for
    std::string storage;
    bool content = false;        // the first content is in `out` or came before
    bool ended = false;          // [DONE]: whatever follows is not the stream's
    std::optional<Error> error;  // after `out`
  };

  // The usual step: `bytes` are one event that is shaped like the one before. What of it goes out: some of
  // `pieces`; nothing if that is for `feed` to say.
  [[gnu::noinline]] std::span<const std::string_view> pass(std::string_view bytes,
                                                           openai::EventPieces& pieces) noexcept {
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

  enum class BodyEnd : std::uint8_t { NotYet, Proper, Broken };
  // `end`: whether the body ends with these bytes, and how. Out of line: see above.
  [[gnu::noinline]] void feed(std::string_view bytes, BodyEnd end, Output& output) {
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
      const openai::Edit edit = openai::edit_of(rules_, facts);
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
    // Comments and blank lines between events need no waiting.
    const bool at_border = decoder_.at_border();
    std::size_t whole = output.error || output.ended || !at_border ? event_from : bytes.size();
    if (end == BodyEnd::Proper && !output.error && !output.ended && whole < bytes.size() + tail_.size()) {
      // The provider ended without the closing blank line: what parses is an event all the same. Half an
      // event is none, and no client is to see it.
      if (decoder_.finish(event) && is_whole(event.data)) {
        const openai::EventFacts facts = judge_.judge(event);
        if (facts.error) {
          output.error = *facts.error;
        } else {
          editing = true;
          if (event_from > 0) flush_raw(event_from);
          tail_.clear();  // else it is the event's own beginning
          if (openai::edit_event(rules_, facts, event, {}, edited) == openai::Edit::Keep) {
            openai::append_event(edited, event.name, event.data);
          }
          kept_from = whole = bytes.size();
        }
      }
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
    output.content = judge_.content_seen();
    if (tail_.empty() && tail_.capacity() > 256) std::string().swap(tail_);
  }

  [[nodiscard]] const openai::StreamJudge& judge() const noexcept { return judge_; }

 private:
  // The next event of `bytes` behind `consumed`, judged.
  bool next(std::string_view bytes, std::size_t& consumed, wire::SseEvent& event, openai::EventFacts& facts) {
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
      facts = judge_.judge(event, is_here ? raw : std::string_view());
    } else {
      facts = is_here ? judge_.judge_raw(raw) : judge_.judge_raw(tail_ + std::string(raw));
    }
    return true;
  }

  static bool is_whole(std::string_view data) noexcept {
    return data == "[DONE]" || !wire::check_json(data, {.check_utf8 = false});
  }
  // Whether the two together end with LF CR: an empty line of a stream whose lines end with CRLF.
  static bool ends_in_half_a_line_end(std::string_view first, std::string_view second) noexcept {
    const std::string_view last = second.empty() ? first : second;
    if (!last.ends_with('\r')) return false;
    return last.size() > 1 ? last[last.size() - 2] == '\n' : !second.empty() && first.ends_with('\n');
  }

  // What `pass` needs comes first.
  std::size_t may_pass_ = 0;  // the decoder's word, 0 while there is a tail
  bool edits_alike_ = false;  // whether events of this shape may have to be edited
  openai::StreamJudge judge_;
  std::string tail_;  // raw bytes of an unfinished event
  wire::SseDecoder decoder_;
  openai::EventRules rules_;
  std::string model_json_;  // of the name that is put back
};

// Reads on to the body's end so that the connection can be pooled; a provider that dawdles loses it.
Task<void> await_trailing_end(RequestState& state, UpstreamReply& reply) {
  const MonotonicTime deadline = state.services.loop.now() + kTrailingEnd;
  for (;;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::End || piece.kind == Piece::Kind::Failed || piece.last) co_return;
    if (piece.kind == Piece::Kind::WouldBlock &&
        co_await reply.readable(state.scope().until(deadline)) != net::Wake::Ready) {
      co_return;
    }
  }
}

// A stream was asked for and something else came: an error object says what, anything else is no answer.
Task<Result<>> unstreamed(RequestState& state, const model::Attempt& attempt, UpstreamReply& reply) {
  const Timers& timers = state.snapshot.timers_of(*attempt.target);
  const MonotonicTime deadline = state.services.loop.now() + timers.first_byte;
  const std::size_t max = state.snapshot.limits.error_body_max;
  std::string body;
  while (body.size() < max) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Wake wake = co_await reply.readable(state.scope().until(deadline));
      if (wake == net::Wake::Cancelled) co_return fail(given_up(state.client.gone()));
      if (wake != net::Wake::Ready) break;
      continue;
    }
    if (piece.kind != Piece::Kind::Bytes) break;
    body.append(piece.bytes.substr(0, max - body.size()));
    if (piece.last) break;
  }
  const auto facts = openai::judge_answer(state.incoming.endpoint, body, *attempt.target);
  if (facts.fault == ErrorKind::StreamError) co_return fail(fault_of(*attempt.target, facts));
  co_return fail(
      Error::upstream(ErrorKind::BadContentType, AttemptPhase::ReplyBegun,
                      "the provider answered a streaming request with something that is no stream"));
}

// What is decided between two waits. Plain functions only, out of line, so that the coroutine's frame, which
// an idle stream keeps, holds none of their variables.
class Relaying {
 public:
  Relaying(RequestState& state, model::Attempt& attempt, const UpstreamReply& reply)
      : state_(state),
        event_gap_(state.snapshot.timers_of(*attempt.target).event_gap),
        sieve_(state, *attempt.target),
        attempt_(attempt),
        passed_lines_(passed_header_lines(reply.head().fields)) {}

  [[nodiscard]] net::Scope waiting() const {
    if (delivered_) return state_.scope().until(state_.services.loop.now() + event_gap_);
    return state_.scope().until(attempt_.started + state_.snapshot.timers_of(*attempt_.target).first_content);
  }
  void woken(net::Wake wake, const net::Scope& scope, MonotonicTime from) {
    if (wake == net::Wake::Ready) {
      count_wait(state_, from);
    } else {
      woken_in_vain(wake, scope, from);
    }
  }
  // Whether the reply has come to flow with this wait: content was delivered and more is awaited again and
  // again.
  [[nodiscard]] bool flows_now() noexcept { return delivered_ && ++waits_ == kWaitsOfAFlow; }
  void take(const Piece& piece) {
    if (!pass(piece)) take_in_full(piece);
  }
  // The stream is complete and its end not yet with the client: nothing may be pending then.
  [[nodiscard]] bool end_unwritten() const noexcept { return end_unwritten_; }
  void write_end();
  void client_left(Result<>& flushed);
  // The client was gone when the head came.
  void left_before() { end(given_up(state_.client.gone())); }

  [[nodiscard]] bool over() const noexcept { return over_; }
  // The body goes on behind the stream's own end, or behind the client's.
  [[nodiscard]] bool body_goes_on() const noexcept {
    return !body_ended_ && (!error_ || is_wanted_for_usage());
  }
  [[nodiscard]] bool is_wanted_for_usage() const noexcept {
    return error_ && wants_usage(attempt_, *error_) && !is_told_all();
  }
  bool read_usage(const Piece& piece);
  [[nodiscard]] Result<> result() {
    if (error_) return fail(std::move(*error_));
    return {};
  }

 private:
  void woken_in_vain(net::Wake wake, const net::Scope& scope, MonotonicTime from);
  bool pass(const Piece& piece);
  void take_in_full(const Piece& piece);
  void hand_over(Sieve::Output& step, bool finished);
  void end(std::optional<Error> error);
  void note_facts();
  // The stream has come to its end, and what it cost is known or never will be.
  [[nodiscard]] bool is_told_all() const noexcept {
    const openai::StreamJudge& judge = sieve_.judge();
    return ended_ || (judge.ended() && judge.usage().source != model::UsageSource::None);
  }

  static constexpr std::uint32_t kWaitsOfAFlow = 4;
  // What each event needs comes first, the sieve's first members included.
  RequestState& state_;
  Milliseconds event_gap_;
  std::uint32_t waits_ = 0;  // after the commit point
  bool delivered_ = false;   // as the attempt is
  bool over_ = false;
  bool body_ended_ = false;
  bool end_unwritten_ = false;
  Sieve sieve_;
  model::Attempt& attempt_;
  bool ended_ = false;  // by [DONE] or an error
  std::string passed_lines_;
  std::string held_;  // whole events that wait for the commit point
  std::unique_ptr<Error> error_;
};

[[gnu::noinline]] void Relaying::end(std::optional<Error> error) {
  over_ = true;
  note_facts();
  if (error) error_ = std::make_unique<Error>(*std::move(error));
}

void Relaying::note_facts() {
  attempt_.usage = state_.usage = sieve_.judge().usage();
  state_.finish_reason = std::string(sieve_.judge().finish_reason());
}

bool Relaying::read_usage(const Piece& piece) {
  Sieve::Output step;
  sieve_.feed(piece.bytes, Sieve::BodyEnd::NotYet, step);
  note_facts();
  ended_ = step.ended || step.error;
  return !is_told_all();
}

// What the provider said before remains what the attempt came to: it is evidence about the target. The
// request, though, has ended with its client.
[[gnu::noinline]] void Relaying::client_left(Result<>& flushed) {
  if (!error_) return end(std::move(flushed).error());
  if (is_lost_client(flushed.error()))
    state_.lost_client = std::make_unique<Error>(std::move(flushed).error());
}

[[gnu::noinline]] void Relaying::woken_in_vain(net::Wake wake, const net::Scope& scope, MonotonicTime from) {
  const ErrorKind timeout = attempt_.delivered ? ErrorKind::EventGapTimeout : ErrorKind::FirstContentTimeout;
  Result<> waited = after_wait(state_, wake, scope, timeout, from);
  if (waited) return;
  // A provider that has said everything but keeps the connection open has answered.
  if (waited.error().kind != ErrorKind::EventGapTimeout || !sieve_.judge().ended()) {
    return end(std::move(waited).error());
  }
  body_ended_ = true;  // as far as we wait for it
  end_unwritten_ = true;
}

[[gnu::noinline]] void Relaying::write_end() {
  state_.heartbeat->stop();
  const bool gone = state_.client.write({}, ClientPort::Last::Yes) == ClientPort::Taken::Gone;
  end_unwritten_ = false;
  end(gone ? std::optional(client_gone()) : std::nullopt);
}

// One more event in the flow, which changes nothing but what the client has. False: nothing was done.
[[gnu::noinline]] bool Relaying::pass(const Piece& piece) {
  if (!delivered_ || piece.kind != Piece::Kind::Bytes || piece.last) return false;
  openai::EventPieces pieces;
  const std::span<const std::string_view> passed = sieve_.pass(piece.bytes, pieces);
  if (passed.empty()) return false;
  state_.heartbeat->touch();
  if (state_.client.write(passed, ClientPort::Last::No) == ClientPort::Taken::Gone) end(client_gone());
  return true;
}

[[gnu::noinline]] void Relaying::take_in_full(const Piece& piece) {
  body_ended_ = piece.last || piece.kind != Piece::Kind::Bytes;
  Sieve::Output step;
  const auto end_kind = piece.kind == Piece::Kind::Failed ? Sieve::BodyEnd::Broken
                        : body_ended_                     ? Sieve::BodyEnd::Proper
                                                          : Sieve::BodyEnd::NotYet;
  sieve_.feed(piece.bytes, end_kind, step);
  ended_ = step.ended || step.error;
  // The dialect has read what the provider says; the catalogue knows what it means.
  if (step.error && step.error->kind == ErrorKind::StreamError) {
    step.error = providers::classify_error_object(attempt_.target->kind, *step.error,
                                                  providers::credential_of(*attempt_.target));
  }
  const openai::StreamJudge& judge = sieve_.judge();
  if (piece.kind == Piece::Kind::Failed && !step.ended && !step.error && !judge.ended()) {
    // The transport broke; a stream that had ended by its own words is complete all the same.
    step.error = Error::upstream(piece.error == ErrorKind::BodyCut ? ErrorKind::StreamCut : piece.error,
                                 AttemptPhase::ReplyBegun, piece.reason);
  }
  if (body_ended_ && !step.error && !step.ended) {
    if (const auto fault = judge.fault_at_end()) {
      step.error = Error::upstream(*fault, AttemptPhase::ReplyBegun,
                                   "the provider's stream ended before its answer did");
    }
  }
  const bool finished = step.ended || body_ended_;
  if (finished && !step.error && !judge.content_seen() && !judge.empty_is_legitimate()) {
    step.error =
        Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun, "the provider's answer is empty");
  }
  if (step.error) step.error->phase = AttemptPhase::ReplyBegun;

  // Content that came together with the break is not yet promised to anybody: another target may do better.
  const bool broke = piece.kind == Piece::Kind::Failed && step.error;
  const bool may_go_out = attempt_.delivered || (step.content && !broke) || (finished && !step.error);
  if (may_go_out) return hand_over(step, finished);
  if (step.error) return end(std::move(step.error));
  for (const std::string_view part : step.out) held_.append(part);
  if (held_.size() > kHeldMax) {
    end(Error::upstream(ErrorKind::BadFrame, AttemptPhase::ReplyBegun,
                        "the provider's stream says a lot and answers nothing"));
  }
}

void Relaying::hand_over(Sieve::Output& step, bool finished) {
  ClientPort& client = state_.client;
  if (!attempt_.delivered) {  // the commit point
    attempt_.delivered = state_.delivered = delivered_ = true;
    attempt_.first_content = state_.first_content = state_.services.loop.now();
    state_.incoming.free_body();                 // nothing can be sent again
    attempt_.outcome = model::Outcome::Success;  // as far as the headers can know
    attempt_.ended = state_.services.loop.now();
    settle_probe(state_, attempt_);
    if (!client.begun()) {
      client.begin(200,
                   reply_header_lines(state_, attempt_, "text/event-stream; charset=utf-8", passed_lines_));
    }
    std::string().swap(passed_lines_);
  }
  const bool last = finished && !step.error;
  // A heartbeat behind the end would be one too many.
  if (last) {
    state_.heartbeat->stop();
  } else {
    state_.heartbeat->touch();
  }
  const std::array<std::string_view, 4> pieces = {held_, step.out[0], step.out[1], step.line_end};
  const auto taken = client.write(pieces, last ? ClientPort::Last::Yes : ClientPort::Last::No);
  if (!held_.empty()) std::string().swap(held_);
  if (taken == ClientPort::Taken::Gone && !step.error) return end(client_gone());
  if (step.error || finished) end(std::move(step.error));
}

Task<void> drain_stream(RequestState& state, UpstreamReply& reply, Relaying& relaying) {
  class Reader final : public UsageReader {
   public:
    explicit Reader(Relaying& relaying) noexcept : relaying_(relaying) {}
    bool read_usage(const Piece& piece) override { return relaying_.read_usage(piece); }

   private:
    Relaying& relaying_;
  };
  Reader reader(relaying);
  co_await drain_for_usage(state, reply, reader);
}

// Behind the end, for the connection's sake or for the usage's.
Task<void> read_on(RequestState& state, UpstreamReply& reply, Relaying& relaying) {
  return relaying.is_wanted_for_usage() ? drain_stream(state, reply, relaying)
                                        : await_trailing_end(state, reply);
}

Task<Result<>> relay_events(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  Relaying relaying(state, attempt, reply);
  if (state.client.gone().cancelled()) relaying.left_before();
  for (;;) {
    // What a step or a heartbeat left behind. Flushed before the read: what is read lies in the loop's
    // scratch.
    if (state.client.pending()) {
      reply.keep();
      Result<> flushed = co_await state.client.flush(state.scope());
      if (!flushed) relaying.client_left(flushed);
    }
    if (relaying.over()) break;
    if (relaying.end_unwritten()) {
      relaying.write_end();
      continue;
    }
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Scope scope = relaying.waiting();
      const MonotonicTime from = state.services.loop.precise_now();
      if (relaying.flows_now()) reply.relax();
      const net::Wake wake = co_await reply.readable(scope);
      relaying.woken(wake, scope, from);
    } else {
      relaying.take(piece);
    }
  }
  if (relaying.body_goes_on()) co_await read_on(state, reply, relaying);
  co_return relaying.result();
}

}  // namespace

Task<Result<>> relay_stream(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const auto type = reply.head().fields.find("content-type");
  return type && !is_event_stream(*type) ? unstreamed(state, attempt, reply)
                                         : relay_events(state, attempt, reply);
}

}  // namespace qq::relay
