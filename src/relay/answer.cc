#include "relay/answer.h"

#include "base/assert.h"
#include "dialects/native_answer.h"
#include "providers/masking.h"
#include "providers/upstream_error.h"
#include "relay/answer_tail.h"
#include "relay/content_type.h"
#include "relay/delivery.h"
#include "relay/empty_reply.h"
#include "relay/plain_translation.h"
#include "relay/reply_head.h"
#include "relay/response_keeping.h"
#include "relay/response_store.h"
#include "relay/shown_word.h"
#include "relay/translation.h"
#include "relay/usage_drain.h"
#include "wire/json_part.h"
#include "wire/json_progress.h"

namespace qq::relay {
namespace {

using Piece = UpstreamReply::Piece;

// Some write it in front of what was generated.
model::Usage usage_in_beginning(std::string_view held, const model::Quirks& quirks) {
  return dialects::openai::decode_usage(wire::object_in_part(held, "usage"), quirks);
}

void note_usage(model::Attempt& attempt, const model::Usage& usage) {
  if (usage.source != model::UsageSource::None) attempt.usage = usage;
}

// The same of an answer that was still to be held: what comes of its beginning is kept as well.
class AnswerEnds final : public UsageReader {
 public:
  explicit AnswerEnds(std::string_view held) : tail_(held) { append(held); }
  bool read_usage(const Piece& piece) override {
    append(piece.bytes);
    return tail_.read_usage(piece);
  }
  [[nodiscard]] model::Usage usage(const model::Quirks& quirks) const {
    const model::Usage last = tail_.usage(quirks);
    return last.source != model::UsageSource::None ? last : usage_in_beginning(beginning_, quirks);
  }

 private:
  void append(std::string_view bytes) { beginning_.append(bytes.substr(0, kKept - beginning_.size())); }

  static constexpr std::size_t kKept = 16UL * 1024;
  std::string beginning_;
  AnswerTail tail_;
};

// What is JSON goes out as JSON, whatever the provider calls it: SDKs read the header before the body.
constexpr std::string_view kJson = "application/json";

// A type that is JSON with more to say: a parameter, or "application/problem+json".
bool is_other_json(std::string_view content_type, const model::Target& target) {
  if (wire::iequals(content_type, "application/json; charset=utf-8")) return true;
  return content_type != kJson && content_type.find("json") != std::string_view::npos &&
         may_be_shown(content_type, target);
}

void note_good(RequestState& state, model::Attempt& attempt, const model::Usage& usage,
               std::string_view finish_reason) {
  attempt.usage = usage;
  state.finish_reason = shown_finish(finish_reason, *attempt.target);
  commit(state, attempt);
}

// Whether the endpoint is one of OpenAI's, of whose answers we read little more than we must.
bool is_openai(model::Endpoint endpoint) noexcept {
  const auto dialect = model::conversation_at(endpoint);
  return !dialect || *dialect == model::Dialect::OpenAiChat || *dialect == model::Dialect::OpenAiResponses;
}

dialects::openai::AnswerFacts judge(const model::Attempt& attempt, std::string_view body) {
  return is_openai(attempt.endpoint) ? dialects::openai::judge_answer(attempt.endpoint, body, *attempt.target)
                                     : dialects::judge_native_answer(
                                           *model::conversation_at(attempt.endpoint), body, *attempt.target);
}

// How much of an answer is held. What has to be read as a whole before anything of it can go out is held as a
// whole.
std::size_t held_max(const RequestState& state, const model::Attempt& attempt) noexcept {
  const bool may_stream_on = !attempt.translated && is_openai(attempt.endpoint);
  const Limits& limits = state.snapshot.limits;
  // What the store may keep is held for it.
  if (state.keeping) {
    return std::max({limits.held_answer_max, state.services.responses->entry_bytes_max(),
                     may_stream_on ? std::size_t{0} : limits.event_max});
  }
  return may_stream_on ? limits.held_answer_max : std::max(limits.held_answer_max, limits.event_max);
}

// What a provider's decoder found wrong with its answer, as its catalogue entry means it.
Error told_by(const model::Target& target, Error error) {
  dialects::openai::AnswerFacts facts;
  facts.fault = error.kind;
  facts.fault_message = error.message;
  facts.error = std::move(error);
  return fault_of(target, facts);
}

// What is kept is told when it is: `finish_whole` does so.
ClientPort::Taken put_off(RequestState& state, int status, std::string lines, std::string_view body) {
  ResponseKeeping& keeping = *state.keeping;
  keeping.status = status;
  keeping.header_lines = std::move(lines);
  keeping.body = told_response(state, body);
  return ClientPort::Taken::All;
}

Result<ClientPort::Taken> deliver_translated(RequestState& state, model::Attempt& attempt, int status,
                                             std::string_view passed_lines, std::string_view body) {
  bool blank = false;
  auto answer = is_plain(attempt.endpoint)
                    ? state.plain_translation->translate_answer(body, *attempt.target, attempt.endpoint)
                    : state.translation->translate_answer(body, *attempt.target, attempt.endpoint,
                                                          attempt.usage, blank);
  if (!answer) {
    note_empty_reply(state, answer.error(), blank, true);
    return fail(told_by(*attempt.target, std::move(answer).error()));
  }
  note_good(state, attempt, answer->usage, answer->finish_reason);
  std::string lines = reply_header_lines(state, attempt, kJson, passed_lines);
  const std::string_view piece = answer->body;
  if (state.keeping) return put_off(state, status, std::move(lines), piece);
  return state.client.reply(status, lines, {&piece, 1});
}

// A complete body: judge it, then deliver it in one write.
Result<ClientPort::Taken> deliver_whole(RequestState& state, model::Attempt& attempt, int status,
                                        std::string_view content_type, std::string_view passed_lines,
                                        std::string_view body) {
  if (attempt.translated) return deliver_translated(state, attempt, status, passed_lines, body);
  const auto facts = judge(attempt, body);
  if (facts.fault) {
    note_usage(attempt, facts.usage);  // no answer, and yet it may be billed
    state.finish_reason = shown_finish(facts.finish_reason, *attempt.target);
    Error error = fault_of(*attempt.target, facts);
    note_empty_reply(state, error, facts.blank, !facts.finish_reason.empty() || !is_openai(attempt.endpoint));
    return fail(std::move(error));
  }
  note_good(state, attempt, facts.usage, facts.finish_reason);
  std::string lines = reply_header_lines(state, attempt, content_type, passed_lines);
  dialects::openai::AnswerBody out;
  dialects::openai::edit_answer(facts, body,
                                dialects::openai::name_to_restore(state.facts.model, *attempt.target), out);
  if (state.keeping) {
    std::string whole;
    for (const std::string_view piece : out.pieces) whole.append(piece);
    return put_off(state, status, std::move(lines), whole);
  }
  return state.client.reply(status, lines, out.pieces);
}

// Behind a whole answer that was judged good and handed to the client, or put off until it is kept.
Task<Result<>> finish_whole(RequestState& state, ClientPort::Taken taken) {
  if (state.keeping) {
    ResponseKeeping& keeping = *state.keeping;
    const bool kept = co_await keep_response(state, keeping.body);
    if (!kept) keeping.body = told_response(state, keeping.body);
    const std::string_view body = keeping.body;
    taken = state.client.reply(keeping.status, keeping.header_lines, {&body, 1});
  }
  Result<> told = co_await taken_by_client(state, taken);
  co_return told;
}

bool looks_like_an_answer(std::string_view held) noexcept {
  const std::size_t start = held.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && held[start] == '{';
}

// Too large to hold: it commits now and streams on. Providers name the model near the front, so its name is
// put back where it stands in what is held; further on it goes out as it came.
[[gnu::noinline]] ClientPort::Taken begin_large(RequestState& state, model::Attempt& attempt, int status,
                                                std::string_view content_type, std::string_view passed_lines,
                                                std::string_view held) {
  give_up_keeping(state);
  commit(state, attempt);
  state.incoming.free_body();
  state.client.begin(status, reply_header_lines(state, attempt, content_type, passed_lines));
  dialects::openai::AnswerFacts facts;
  facts.model_value = wire::member_in_part(held, "model");
  dialects::openai::AnswerBody out;
  dialects::openai::edit_answer(facts, held,
                                dialects::openai::name_to_restore(state.facts.model, *attempt.target), out);
  return state.client.write(out.pieces, ClientPort::Last::No);
}

// A body that ended before its document did is no answer: a provider that died may have closed properly.
[[gnu::noinline]] Result<> follow(wire::JsonProgress& progress, std::string_view bytes, bool last) {
  if (!progress.feed(bytes)) {
    return fail(Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun,
                                "the provider's answer stopped being JSON on its way"));
  }
  if (last && !progress.complete()) {
    return fail(Error::upstream(ErrorKind::BodyCut, AttemptPhase::ReplyBegun,
                                "the provider's answer ended in the middle of its JSON"));
  }
  return {};
}

// The same of what is held, before anything is promised. Whoever passes the rest on reads it once more: a
// held answer's frame has no place for where the reading stands.
[[gnu::noinline]] Result<> check_beginning(std::string_view held, bool complete) {
  wire::JsonProgress progress;
  return follow(progress, held, complete);
}

// The rest of an answer too large to hold, behind what was `taken` of its beginning.
Task<Result<>> pass_on(RequestState& state, UpstreamReply& reply, ClientPort::Taken taken, AnswerTail& tail,
                       wire::JsonProgress& progress) {
  for (bool last = false;;) {
    if (taken != ClientPort::Taken::All) QQ_CO_CHECK(co_await taken_by_client(state, taken));
    if (last) co_return Result<>();
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Scope waiting =
          state.scope().until(state.services.loop.now() + state.snapshot.timers.event_gap);
      const MonotonicTime from = state.services.loop.precise_now();
      const net::Wake wake = co_await reply.readable(waiting);
      QQ_CO_CHECK(after_wait(state, wake, waiting, ErrorKind::EventGapTimeout, from));
      taken = ClientPort::Taken::All;
      continue;
    }
    if (piece.kind == Piece::Kind::Failed) {
      co_return fail(Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason));
    }
    last = piece.last || piece.kind == Piece::Kind::End;
    tail.append(piece.bytes);
    QQ_CO_CHECK(follow(progress, piece.bytes, last));
    taken = state.client.write({&piece.bytes, 1}, last ? ClientPort::Last::Yes : ClientPort::Last::No);
  }
}

// The same with what is made of its end; `beginning` is with the client or pending for it.
Task<Result<>> stream_on(RequestState& state, model::Attempt& attempt, UpstreamReply& reply,
                         ClientPort::Taken taken, std::string beginning) {
  AnswerTail tail(beginning);
  wire::JsonProgress progress;
  QQ_ASSERT(progress.feed(beginning));  // as `check_beginning` saw
  note_usage(attempt, usage_in_beginning(beginning, attempt.target->quirks));
  std::string().swap(beginning);
  Result<> passed = co_await pass_on(state, reply, taken, tail, progress);
  if (!passed) {
    // No terminating chunk: the client must not take this for a whole answer, unless it is one.
    if (!state.client.complete()) state.client.abort();
    if (wants_usage(attempt, passed.error())) co_await drain_for_usage(state, reply, tail);
  }
  note_usage(attempt, tail.usage(attempt.target->quirks));
  co_return passed;
}

// As after_wait, with the error left in the attempt: a held answer's frame is small.
[[gnu::noinline]] bool may_go_on(RequestState& state, model::Attempt& attempt, net::Wake wake,
                                 const net::Scope& waiting, ErrorKind timeout, MonotonicTime from) {
  Result<> waited = after_wait(state, wake, waiting, timeout, from);
  if (!waited) attempt.error = std::move(waited).error();
  return !attempt.error;
}

// The end of an answer that is still held, for the reason in `attempt.error`.
Task<Result<>> give_up(RequestState& state, model::Attempt& attempt, UpstreamReply& reply, std::string held) {
  if (wants_usage(attempt, *attempt.error)) {
    note_usage(attempt, usage_in_beginning(held, attempt.target->quirks));
    AnswerEnds ends(held);
    std::string().swap(held);
    co_await drain_for_usage(state, reply, ends);
    note_usage(attempt, ends.usage(attempt.target->quirks));
  }
  co_return fail(*attempt.error);
}

}  // namespace

Error fault_of(const model::Target& target, const dialects::openai::AnswerFacts& facts) {
  Error told = facts.error ? *facts.error
                           : Error::upstream(*facts.fault, AttemptPhase::ReplyBegun, facts.fault_message);
  if (told.kind == ErrorKind::StreamError) {
    told = providers::classify_error_object(target.kind, told, providers::credential_of(target));
  }
  told.phase = AttemptPhase::ReplyBegun;
  return told;
}

Task<Result<>> relay_answer(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const int status = reply.status();
  const std::string_view said = reply.head().fields.find("content-type").value_or(kJson);
  const std::string passed_lines = passed_header_lines(reply.head().fields, *attempt.target);
  if (is_html(said) || is_event_stream(said)) {
    co_return fail(Error::upstream(ErrorKind::BadContentType, AttemptPhase::ReplyBegun,
                                   "the provider answered with something that is not JSON"));
  }
  // Copied only if it is not the usual one, as the head does not outlive a wait.
  const std::string other_type(is_other_json(said, *attempt.target) ? said : std::string_view());
  const std::string_view content_type = other_type.empty() ? kJson : std::string_view(other_type);

  std::string held;
  if (state.client.gone().cancelled()) {  // while the head was awaited
    attempt.error = net::cancelled_error(state.scope());
    co_return co_await give_up(state, attempt, reply, std::move(held));
  }
  // Until the whole answer is here or too large to hold.
  bool complete = false;
  while (!complete) {
    const Piece piece = reply.try_read();
    switch (piece.kind) {
      case Piece::Kind::WouldBlock: {
        const Timers& timers = state.snapshot.timers_of(*attempt.target);
        const MonotonicTime first_content = attempt.sent() + timers.first_content;
        const MonotonicTime gap = state.services.loop.now() + timers.event_gap;
        const net::Scope waiting = state.scope().until(held.empty() ? first_content : gap);
        const ErrorKind timeout = held.empty() ? ErrorKind::FirstContentTimeout : ErrorKind::EventGapTimeout;
        const MonotonicTime from = state.services.loop.precise_now();
        const net::Wake wake = co_await reply.readable(waiting);
        if (!may_go_on(state, attempt, wake, waiting, timeout, from)) {
          co_return co_await give_up(state, attempt, reply, std::move(held));
        }
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
          if (*taken == ClientPort::Taken::All && !state.keeping) co_return Result<>();
          co_return co_await finish_whole(state, *taken);
        }
        held.append(piece.bytes);
        complete = piece.last;
        break;
    }
    if (held.size() > held_max(state, attempt)) break;
    if (complete) {
      Result<ClientPort::Taken> taken =
          deliver_whole(state, attempt, status, content_type, passed_lines, held);
      if (!taken) co_return fail(std::move(taken).error());
      if (*taken == ClientPort::Taken::All && !state.keeping) co_return Result<>();
      co_return co_await finish_whole(state, *taken);
    }
  }

  if (attempt.translated || !is_openai(attempt.endpoint)) {
    co_return fail(Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                   "the provider's answer is too large to be translated (limits.event_max)"));
  }
  if (!looks_like_an_answer(held)) {
    co_return fail(
        Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun, "the provider's answer is not JSON"));
  }
  QQ_CO_CHECK(check_beginning(held, complete));
  const ClientPort::Taken taken = begin_large(state, attempt, status, content_type, passed_lines, held);
  co_return co_await stream_on(state, attempt, reply, taken, std::move(held));
}

}  // namespace qq::relay
