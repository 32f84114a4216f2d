#include "relay/answer.h"

#include "dialects/openai/answer.h"
#include "providers/upstream_error.h"
#include "relay/delivery.h"
#include "relay/reply_head.h"

namespace qq::relay {
namespace {

using Piece = UpstreamReply::Piece;

Error fault_of(const model::Target& target, const dialects::openai::AnswerFacts& facts,
               std::string_view body) {
  Error error = *facts.fault == ErrorKind::StreamError
                    ? providers::classify_error_object(target.kind, body)
                    : Error::upstream(*facts.fault, AttemptPhase::ReplyBegun, facts.fault_message);
  error.phase = AttemptPhase::ReplyBegun;
  error.origin = ErrorOrigin::Upstream;
  return error;
}

// The usage of an answer too large to hold: OpenAI's dialects write it last, so it lies in the tail.
model::Usage usage_in_tail(std::string_view tail, const model::Quirks& quirks) {
  const std::size_t at = tail.rfind("\"usage\"");
  if (at == std::string_view::npos) return {};
  const std::size_t open = tail.find('{', at);
  const std::size_t close = tail.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  // The document's own closing brace follows the object's: shorten until what is left is one value.
  for (std::size_t end = close; end > open; end = tail.rfind('}', end - 1)) {
    const std::string_view text = tail.substr(open, end - open + 1);
    if (!wire::check_json(text)) return dialects::openai::decode_usage(wire::JsonValue(text), quirks);
    if (end == 0) break;
  }
  return {};
}

bool is_html(std::string_view content_type) noexcept {
  return content_type.size() >= 9 && wire::iequals(content_type.substr(0, 9), "text/html");
}

// What is JSON goes out as JSON, whatever the provider calls it: SDKs read the header before the body.
bool says_json(std::string_view content_type) noexcept {
  return content_type.find("json") != std::string_view::npos;
}

bool is_event_stream(std::string_view content_type) noexcept {
  return content_type.size() >= 17 && wire::iequals(content_type.substr(0, 17), "text/event-stream");
}

Result<> note_good(RequestState& state, model::Attempt& attempt, const dialects::openai::AnswerFacts& facts) {
  state.usage = attempt.usage = facts.usage;
  state.finish_reason = facts.finish_reason;
  attempt.first_content = state.first_content = state.services.loop.now();
  attempt.delivered = state.delivered = true;
  return {};
}

// A complete body: judge it, then deliver it in one write.
Result<ClientPort::Taken> deliver_whole(RequestState& state, model::Attempt& attempt, int status,
                                        std::string_view content_type, std::string_view passed_lines,
                                        std::string_view body) {
  const auto facts = dialects::openai::judge_answer(state.incoming.endpoint, body, *attempt.target);
  if (facts.fault) return fail(fault_of(*attempt.target, facts, body));
  QQ_CHECK(note_good(state, attempt, facts));
  attempt.outcome = model::Outcome::Success;
  attempt.ended = state.services.loop.now();
  const std::string lines = reply_header_lines(state, attempt, content_type, passed_lines);
  dialects::openai::AnswerBody out;
  dialects::openai::edit_answer(facts, body,
                                dialects::openai::name_to_restore(state.facts.model, *attempt.target), out);
  return state.client.reply(status, lines, out.pieces);
}

}  // namespace

Task<Result<>> relay_answer(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const int status = reply.status();
  std::string content_type(reply.head().fields.find("content-type").value_or("application/json"));
  const std::string passed_lines = passed_header_lines(reply.head().fields);
  if (is_html(content_type) || is_event_stream(content_type)) {
    co_return fail(Error::upstream(ErrorKind::BadContentType, AttemptPhase::ReplyBegun,
                                   "the provider answered with something that is not JSON"));
  }
  if (!says_json(content_type) || !wire::is_safe_field_value(content_type)) content_type = "application/json";

  const Limits& limits = state.snapshot.limits;
  std::string held;
  // Until the whole answer is here or too large to hold.
  for (bool complete = false; !complete;) {
    const Piece piece = reply.try_read();
    switch (piece.kind) {
      case Piece::Kind::WouldBlock: {
        const Timers& timers = state.snapshot.timers;
        const MonotonicTime first_content = attempt.started + timers.first_content;
        const MonotonicTime gap = state.services.loop.now() + timers.event_gap;
        const net::Scope waiting = state.scope().until(held.empty() ? first_content : gap);
        const ErrorKind timeout = held.empty() ? ErrorKind::FirstContentTimeout : ErrorKind::EventGapTimeout;
        const MonotonicTime from = state.services.loop.precise_now();
        const net::Wake wake = co_await reply.readable(waiting);
        QQ_CO_CHECK(after_wait(state, wake, waiting, timeout, from));
        continue;
      }
      case Piece::Kind::Failed:
        co_return fail(Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason));
      case Piece::Kind::End: complete = true; break;
      case Piece::Kind::Bytes:
        if (piece.last && held.empty()) {
          Result<ClientPort::Taken> taken =
              deliver_whole(state, attempt, status, content_type, passed_lines, piece.bytes);
          if (!taken) co_return fail(std::move(taken).error());
          if (*taken == ClientPort::Taken::All) co_return Result<>();
          co_return co_await taken_by_client(state, *taken);
        }
        held.append(piece.bytes);
        complete = piece.last;
        break;
    }
    if (held.size() > limits.held_answer_max) break;
    if (complete) {
      Result<ClientPort::Taken> taken =
          deliver_whole(state, attempt, status, content_type, passed_lines, held);
      if (!taken) co_return fail(std::move(taken).error());
      if (*taken == ClientPort::Taken::All) co_return Result<>();
      co_return co_await taken_by_client(state, *taken);
    }
  }

  // Too large to hold: it commits now and streams on. Its beginning must at least look like an answer.
  const std::size_t start = held.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || held[start] != '{') {
    co_return fail(
        Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun, "the provider's answer is not JSON"));
  }
  attempt.delivered = state.delivered = true;
  attempt.first_content = state.first_content = state.services.loop.now();
  std::string().swap(state.incoming.body);
  state.client.begin(status, reply_header_lines(state, attempt, content_type, passed_lines));
  static constexpr std::size_t kTail = 16 * 1024;
  std::string tail = held.substr(held.size() - std::min(held.size(), kTail));
  {
    const std::string_view out = held;
    const auto taken = state.client.write({&out, 1}, ClientPort::Last::No);
    std::string().swap(held);
    if (taken != ClientPort::Taken::All) QQ_CO_CHECK(co_await taken_by_client(state, taken));
  }
  for (;;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Scope waiting =
          state.scope().until(state.services.loop.now() + state.snapshot.timers.event_gap);
      const MonotonicTime from = state.services.loop.precise_now();
      const net::Wake wake = co_await reply.readable(waiting);
      Result<> waited = after_wait(state, wake, waiting, ErrorKind::EventGapTimeout, from);
      if (!waited) {
        state.client.abort();
        co_return waited;
      }
      continue;
    }
    if (piece.kind == Piece::Kind::Failed) {
      state.client.abort();  // no terminating chunk: the client must not take this for a whole answer
      co_return fail(Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason));
    }
    const bool last = piece.last || piece.kind == Piece::Kind::End;
    tail.append(piece.bytes);
    if (tail.size() > 2 * kTail) tail.erase(0, tail.size() - kTail);
    const auto taken =
        state.client.write({&piece.bytes, 1}, last ? ClientPort::Last::Yes : ClientPort::Last::No);
    if (taken != ClientPort::Taken::All) QQ_CO_CHECK(co_await taken_by_client(state, taken));
    if (last) break;
  }
  state.usage = attempt.usage = usage_in_tail(tail, attempt.target->quirks);
  co_return Result<>();
}

}  // namespace qq::relay
