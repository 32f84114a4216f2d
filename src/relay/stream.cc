#include "relay/stream.h"

#include "dialects/openai/answer.h"
#include "dialects/openai/event_edit.h"
#include "dialects/openai/stream.h"
#include "providers/upstream_error.h"
#include "relay/delivery.h"
#include "relay/reply_head.h"

namespace qq::relay {
namespace {

namespace openai = dialects::openai;
using Piece = UpstreamReply::Piece;

// What may be held of a stream before its first content: more than this is no preamble.
constexpr std::size_t kHeldMax = 1U << 20U;
// After the stream's end, how long the provider's own end of body is awaited so that its connection can be
// used again.
constexpr Milliseconds kTrailingEnd{50};

bool is_event_stream(std::string_view content_type) noexcept {
  return content_type.size() >= 17 && wire::iequals(content_type.substr(0, 17), "text/event-stream");
}

// The judging of one stream: bytes in, bytes for the client out. Not a coroutine, so that what it needs
// while it works is on the stack and not in the frame of an idle stream.
class Sieve {
 public:
  Sieve(const RequestState& state, const model::Target& target)
      : judge_(state.incoming.endpoint, target), decoder_(state.snapshot.limits.event_max) {
    rules_.usage_forced = openai::usage_was_forced(state.facts, state.incoming.endpoint, target);
    rules_.rename_model = openai::name_to_restore(state.facts.model, target);
  }

  // What came of one step. `out` are whole events for the client, views into the bytes given and into
  // `storage`.
  struct Output {
    std::array<std::string_view, 2> out;
    std::string storage;
    bool content = false;          // the first content is in `out` or came before
    bool ended = false;            // [DONE]: whatever follows is not the stream's
    std::optional<Error> error;    // after `out`
  };

  // `end`: the body ends with these bytes.
  void feed(std::string_view bytes, bool end, Output& output) {
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
    while (decoder_.next(bytes, consumed, event)) {
      openai::EventFacts facts;
      if (event.has_data) {
        facts = judge_.judge(event);
      } else if (tail_.empty() || event_from > 0) {
        facts = judge_.judge_raw(bytes.substr(event_from, event.end - event_from));
      } else {
        facts = judge_.judge_raw(tail_ + std::string(bytes.substr(0, event.end)));
      }
      if (facts.error) {
        output.error = *facts.error;
        break;
      }
      const openai::Edit edit = openai::edit_of(rules_, facts);
      if (edit != openai::Edit::Keep) {
        editing = true;
        // The event's own raw bytes: the tail belongs to it if it is the first of this step.
        std::string raw_storage;
        std::string_view raw = bytes.substr(event_from, event.end - event_from);
        if (event_from == 0 && !tail_.empty()) {
          raw_storage = tail_ + std::string(raw);
          raw = raw_storage;
          tail_.clear();
        } else {
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
      output.error = Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun, "one event of the provider's stream is too large");
    }
    // Whole events go out; an unfinished one waits for its end, so that the client only ever sees whole ones.
    // Comments and blank lines between events need no waiting.
    std::size_t whole = output.error || output.ended ? event_from : (decoder_.at_border() ? bytes.size() : event_from);
    if (end && !output.error && !output.ended && whole < bytes.size() + tail_.size()) {
      // The provider ended without the closing blank line: what parses is an event all the same.
      if (decoder_.finish(event)) {
        const openai::EventFacts facts = judge_.judge(event);
        if (facts.error) {
          output.error = *facts.error;
        } else {
          editing = true;
          flush_raw(event_from);
          if (openai::edit_event(rules_, facts, event, {}, edited) == openai::Edit::Keep) {
            if (!event.name.empty()) edited.append("event: ").append(event.name).append("\n");
            append_data_lines(edited, event.data);
          }
          kept_from = whole = bytes.size();
        }
      }
    }
    if (editing) {
      if (whole > kept_from) flush_raw(whole);
      output.out[0] = edited;
    } else if (whole > 0 || (decoder_.at_border() && !output.error)) {
      edited = std::move(tail_);
      tail_.clear();
      output.out[0] = edited;
      output.out[1] = bytes.substr(0, whole);
    }
    if (!output.error && !output.ended) tail_.append(bytes.substr(whole));
    output.content = judge_.content_seen();
    if (tail_.empty() && tail_.capacity() > 256) std::string().swap(tail_);
  }

  [[nodiscard]] const openai::StreamJudge& judge() const noexcept { return judge_; }

 private:
  static void append_data_lines(std::string& out, std::string_view data) {
    while (true) {
      const std::size_t line = data.find('\n');
      out.append("data: ").append(data.substr(0, line)).append("\n");
      if (line == std::string_view::npos) break;
      data.remove_prefix(line + 1);
    }
    out.append("\n");
  }

  openai::StreamJudge judge_;
  wire::SseDecoder decoder_;
  openai::EventRules rules_;
  std::string tail_;  // raw bytes of an unfinished event
};

void note_usage(RequestState& state, model::Attempt& attempt, const openai::StreamJudge& judge) {
  attempt.usage = judge.usage();
  state.usage = judge.usage();
  state.finish_reason = std::string(judge.finish_reason());
}

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
Task<Error> unstreamed_error(RequestState& state, const model::Attempt& attempt, UpstreamReply& reply) {
  const MonotonicTime deadline = state.services.loop.now() + state.snapshot.timers.first_byte;
  const std::size_t max = state.snapshot.limits.error_body_max;
  std::string body;
  while (body.size() < max) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      if (co_await reply.readable(state.scope().until(deadline)) != net::Wake::Ready) break;
      continue;
    }
    if (piece.kind != Piece::Kind::Bytes) break;
    body.append(piece.bytes.substr(0, max - body.size()));
    if (piece.last) break;
  }
  const auto facts = openai::judge_answer(state.incoming.endpoint, body, *attempt.target);
  Error error = facts.fault == ErrorKind::StreamError
                    ? providers::classify_error_object(attempt.target->kind, body)
                    : Error::upstream(ErrorKind::BadContentType, AttemptPhase::ReplyBegun,
                                      "the provider answered a streaming request with something that is no stream");
  error.phase = AttemptPhase::ReplyBegun;
  co_return error;
}

}  // namespace

Task<Result<>> relay_stream(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  if (const auto type = reply.head().fields.find("content-type"); type && !is_event_stream(*type)) {
    co_return fail(co_await unstreamed_error(state, attempt, reply));
  }
  const Timers& timers = state.snapshot.timers;
  ClientPort& client = state.client;
  std::string passed_lines = passed_header_lines(reply.head().fields);
  Sieve sieve(state, *attempt.target);
  std::string held;  // whole events that wait for the commit point

  for (;;) {
    // A heartbeat may have left bytes behind. Flushed before the read: what is read lies in the loop's scratch.
    if (client.pending()) QQ_CO_CHECK(co_await client.flush(state.scope()));
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const MonotonicTime deadline =
          attempt.delivered ? state.services.loop.now() + timers.event_gap : attempt.started + timers.first_content;
      const ErrorKind timeout = attempt.delivered ? ErrorKind::EventGapTimeout : ErrorKind::FirstContentTimeout;
      const net::Scope scope = state.scope().until(deadline);
      const MonotonicTime from = state.services.loop.precise_now();
      const net::Wake wake = co_await reply.readable(scope);
      Result<> waited = after_wait(state, wake, scope, timeout, from);
      if (waited) continue;
      note_usage(state, attempt, sieve.judge());
      // A provider that has said everything but keeps the connection open has answered.
      const bool complete = waited.error().kind == ErrorKind::EventGapTimeout && sieve.judge().ended();
      if (!complete) co_return waited;
      co_return co_await taken_by_client(state, client.write({}, ClientPort::Last::Yes));
    }
    const bool body_ends = piece.last || piece.kind != Piece::Kind::Bytes;
    Sieve::Output step;
    sieve.feed(piece.bytes, body_ends, step);
    if (piece.kind == Piece::Kind::Failed && !step.ended && !step.error) {
      // The transport broke; a stream that had ended by its own words is complete all the same.
      if (!sieve.judge().ended()) {
        step.error = Error::upstream(piece.error == ErrorKind::BodyCut ? ErrorKind::StreamCut : piece.error,
                                     AttemptPhase::ReplyBegun, piece.reason);
      }
    }
    if (body_ends && !step.error && !step.ended) {
      if (const auto fault = sieve.judge().fault_at_end()) {
        step.error = Error::upstream(*fault, AttemptPhase::ReplyBegun, "the provider's stream ended before its answer did");
      }
    }
    const bool finished = step.ended || body_ends;
    if (finished && !step.error && !sieve.judge().content_seen() && !sieve.judge().empty_is_legitimate()) {
      step.error = Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun, "the provider's answer is empty");
    }

    const bool commits = !attempt.delivered && (step.content || (finished && !step.error));
    if (!attempt.delivered && !commits) {
      if (step.error) {
        note_usage(state, attempt, sieve.judge());
        step.error->phase = AttemptPhase::ReplyBegun;
        co_return fail(*std::move(step.error));
      }
      for (const std::string_view part : step.out) held.append(part);
      if (held.size() <= kHeldMax) continue;
      co_return fail(Error::upstream(ErrorKind::BadFrame, AttemptPhase::ReplyBegun,
                                     "the provider's stream says a lot and answers nothing"));
    }
    std::string_view held_part;
    if (commits) {
      attempt.delivered = state.delivered = true;
      attempt.first_content = state.first_content = state.services.loop.now();
      std::string().swap(state.incoming.body);  // nothing can be sent again
      attempt.outcome = model::Outcome::Success;  // as far as the headers can know
      attempt.ended = state.services.loop.now();
      if (!client.begun()) {
        client.begin(200, reply_header_lines(state, attempt, "text/event-stream; charset=utf-8", passed_lines));
      }
      std::string().swap(passed_lines);
      held_part = held;
    }
    state.heartbeat->touch();
    const bool last = finished && !step.error;
    const std::array<std::string_view, 3> pieces = {held_part, step.out[0], step.out[1]};
    const auto taken = client.write(pieces, last ? ClientPort::Last::Yes : ClientPort::Last::No);
    std::string().swap(held);
    if (taken != ClientPort::Taken::All) {
      Result<> delivered = co_await taken_by_client(state, taken);
      if (!delivered) {
        note_usage(state, attempt, sieve.judge());
        co_return delivered;
      }
    }
    if (step.error) {
      note_usage(state, attempt, sieve.judge());
      step.error->phase = AttemptPhase::ReplyBegun;
      co_return fail(*std::move(step.error));
    }
    if (!finished) continue;
    note_usage(state, attempt, sieve.judge());
    if (!body_ends) co_await await_trailing_end(state, reply);
    co_return Result<>();
  }
}

}  // namespace qq::relay
