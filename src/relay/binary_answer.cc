#include "relay/binary_answer.h"

#include "relay/answer_tail.h"
#include "relay/content_type.h"
#include "relay/delivery.h"
#include "relay/empty_reply.h"
#include "relay/reply_head.h"
#include "relay/shown_word.h"

namespace qq::relay {
namespace {

using Piece = UpstreamReply::Piece;

// What of the head outlives it.
struct BinaryHead {
  int status = 200;
  bool is_events = false;  // speech as events, which say at the end what it used
  std::string content_type;
  std::string passed_lines;
};

[[gnu::noinline]] BinaryHead read_binary_head(const model::Attempt& attempt, const UpstreamReply& reply) {
  const wire::Fields& fields = reply.head().fields;
  const std::string_view said = fields.find("content-type").value_or(std::string_view());
  BinaryHead head;
  head.status = reply.status();
  head.is_events = is_event_stream(said);
  head.content_type = may_be_shown(said, *attempt.target) ? said : "application/octet-stream";
  head.passed_lines = passed_header_lines(fields, *attempt.target);
  return head;
}

// Its first bytes go out.
[[gnu::noinline]] ClientPort::Taken begin_binary(RequestState& state, model::Attempt& attempt,
                                                 const BinaryHead& head, std::string_view bytes, bool last) {
  commit(state, attempt);
  state.incoming.free_body();
  std::string lines = reply_header_lines(state, attempt, head.content_type, head.passed_lines);
  if (last) return state.client.reply(head.status, lines, {&bytes, 1});
  state.client.begin(head.status, std::move(lines));
  return state.client.write({&bytes, 1}, ClientPort::Last::No);
}

Error empty_binary() {
  return Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun,
                         "the provider's answer has nothing in it");
}

Error broken_binary(const Piece& piece) {
  return Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason);
}

// Piece by piece; a client that is behind is waited for before the next one is read.
Task<Result<>> pass_binary(RequestState& state, model::Attempt& attempt, UpstreamReply& reply,
                           const BinaryHead& head, AnswerTail& tail) {
  for (bool last = false; !last;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const Timers& timers = state.snapshot.timers_of(*attempt.target);
      const MonotonicTime until = attempt.delivered ? state.services.loop.now() + timers.event_gap
                                                    : attempt.sent() + timers.first_content;
      const ErrorKind timeout =
          attempt.delivered ? ErrorKind::EventGapTimeout : ErrorKind::FirstContentTimeout;
      const net::Scope waiting = state.scope().until(until);
      const MonotonicTime from = state.services.loop.precise_now();
      const net::Wake wake = co_await reply.readable(waiting);
      QQ_CO_CHECK(after_wait(state, wake, waiting, timeout, from));
      continue;
    }
    if (piece.kind == Piece::Kind::Failed) co_return fail(broken_binary(piece));
    last = piece.last || piece.kind == Piece::Kind::End;
    if (head.is_events) tail.append(piece.bytes);
    ClientPort::Taken taken = ClientPort::Taken::All;
    if (attempt.delivered) {
      taken = state.client.write({&piece.bytes, 1}, last ? ClientPort::Last::Yes : ClientPort::Last::No);
    } else if (!piece.bytes.empty()) {
      taken = begin_binary(state, attempt, head, piece.bytes, last);
    } else if (last) {
      Error empty = empty_binary();
      // A recording of silence has an empty transcript.
      note_empty_reply(state, empty, attempt.endpoint != model::Endpoint::AudioSpeech, true);
      co_return fail(std::move(empty));
    }
    if (taken != ClientPort::Taken::All) QQ_CO_CHECK(co_await taken_by_client(state, taken));
  }
  co_return Result<>();
}

}  // namespace

bool is_binary_answer(model::Endpoint endpoint, std::string_view content_type) noexcept {
  const auto is = [&](std::string_view media_type) { return has_media_type(content_type, media_type); };
  switch (endpoint) {
    case model::Endpoint::AudioSpeech:
      return is("audio/") || is("application/octet-stream") || is_event_stream(content_type);
    case model::Endpoint::AudioTranscriptions:
    case model::Endpoint::AudioTranslations:
      return is("text/plain") || is("text/vtt") || is("text/srt") || is("application/x-subrip");
    default: return false;
  }
}

Task<Result<>> relay_binary_answer(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  if (state.client.gone().cancelled()) co_return fail(net::cancelled_error(state.scope()));
  const BinaryHead head = read_binary_head(attempt, reply);
  AnswerTail tail({});
  Result<> passed = co_await pass_binary(state, attempt, reply, head, tail);
  if (!passed) {
    // No terminating chunk: the client must not take this for a whole answer, unless it is one.
    if (attempt.delivered && !state.client.complete()) state.client.abort();
    if (head.is_events && wants_usage(attempt, passed.error())) co_await drain_for_usage(state, reply, tail);
  }
  if (head.is_events) attempt.usage = tail.usage(attempt.target->quirks);
  co_return passed;
}

}  // namespace qq::relay
