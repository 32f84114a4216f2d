#include "relay/stream.h"

#include <span>

#include "dialects/native_answer.h"
#include "providers/masking.h"
#include "providers/upstream_error.h"
#include "relay/answer.h"
#include "relay/client_words.h"
#include "relay/content_type.h"
#include "relay/delivery.h"
#include "relay/empty_reply.h"
#include "relay/event_flow.h"
#include "relay/native_flow.h"
#include "relay/read_body.h"
#include "relay/reply_head.h"
#include "relay/response_keeping.h"
#include "relay/shown_word.h"
#include "relay/sieve.h"
#include "relay/translated_flow.h"
#include "relay/translation.h"
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
// And how much of it is read for that: it is thrown away, and nobody's taking slows it down. A read counts as
// some bytes even if it brought none.
constexpr std::size_t kTrailingMax = 256UL * 1024;
constexpr std::size_t kTrailingRead = 4UL * 1024;

// Reads on to the body's end so that the connection can be pooled; a provider that dawdles or has a lot more
// to say loses it.
Task<void> await_trailing_end(RequestState& state, UpstreamReply& reply) {
  const net::Scope waiting = state.scope().until(state.services.loop.now() + kTrailingEnd);
  for (std::size_t read = 0; read < kTrailingMax;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::End || piece.kind == Piece::Kind::Failed || piece.last) co_return;
    read += std::max(piece.bytes.size(), kTrailingRead);
    if (piece.kind != Piece::Kind::WouldBlock) continue;
    const MonotonicTime from = state.services.loop.precise_now();
    const net::Wake wake = co_await reply.readable(waiting);
    count_wait(state, from);
    if (wake != net::Wake::Ready) co_return;
  }
}

openai::AnswerFacts judge_unstreamed(const model::Attempt& attempt, std::string_view body) {
  const auto dialect = model::conversation_at(attempt.endpoint);
  const bool is_openai =
      !dialect || *dialect == model::Dialect::OpenAiChat || *dialect == model::Dialect::OpenAiResponses;
  return is_openai ? openai::judge_answer(attempt.endpoint, body, *attempt.target)
                   : dialects::judge_native_answer(*dialect, body, *attempt.target);
}

// A stream was asked for and something else came: an error object says what, anything else is no answer.
Task<Result<>> unstreamed(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const MonotonicTime from = state.services.loop.precise_now();
  const net::Scope scope =
      state.scope().until(state.services.loop.now() + state.snapshot.timers_of(*attempt.target).first_byte);
  const BodyRead body = co_await read_body(reply, state.snapshot.limits.error_body_max, scope);
  count_wait(state, from);
  if (body.end == BodyRead::End::Cancelled) co_return fail(net::cancelled_error(state.scope()));
  const auto facts = judge_unstreamed(attempt, body.bytes);
  attempt.usage = facts.usage;
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
        flow_(make_event_flow(state, attempt)),
        attempt_(attempt),
        passed_lines_(passed_header_lines(reply.head().fields, *attempt.target)) {}

  [[nodiscard]] net::Scope waiting() noexcept {
    if (delivered_) {
      if (gap_until_ == MonotonicTime{}) gap_until_ = state_.services.loop.now() + event_gap_;
      return state_.scope().until(gap_until_);
    }
    return state_.scope().until(attempt_.sent() + state_.snapshot.timers_of(*attempt_.target).first_content);
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
  // The end of a response that is to be kept waits until it is.
  [[nodiscard]] bool is_put_off() const noexcept { return put_off_; }
  [[nodiscard]] std::string take_response() noexcept { return std::exchange(response_, {}); }
  void write_put_off(bool kept);
  // The client was waited for. What the provider did meanwhile is not known.
  void client_waited_for() noexcept { gap_until_ = {}; }
  void client_left(Result<>& flushed);
  // The client was gone when the head came.
  void left_before() { end(net::cancelled_error(state_.scope())); }

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
  static EventFlow::BodyEnd body_end(const Piece& piece) noexcept {
    if (piece.kind == Piece::Kind::Failed) return EventFlow::BodyEnd::Broken;
    return piece.last || piece.kind == Piece::Kind::End ? EventFlow::BodyEnd::Proper
                                                        : EventFlow::BodyEnd::NotYet;
  }
  bool pass(const Piece& piece);
  void take_in_full(const Piece& piece);
  void hand_over(EventFlow::Output& step, bool finished);
  bool put_end_off(EventFlow::Output& step, bool last);
  void put_first_right(EventFlow::Output& step);
  void end(std::optional<Error> error);
  void note_facts();
  // The stream has come to its end, and what it cost is known or never will be.
  [[nodiscard]] bool is_told_all() const noexcept {
    return ended_ || (flow_->ended() && flow_->usage().source != model::UsageSource::None);
  }

  static constexpr std::uint32_t kWaitsOfAFlow = 4;
  // What each event needs comes first.
  RequestState& state_;
  Milliseconds event_gap_;
  // The end of the gap that runs: from the first wait behind a whole line on. Half a line does not end it,
  // for a provider can say a byte at a time for ever.
  MonotonicTime gap_until_{};
  std::uint32_t waits_ = 0;  // after the commit point
  bool delivered_ = false;   // as the attempt is
  bool over_ = false;
  bool body_ended_ = false;
  bool end_unwritten_ = false;
  bool put_off_last_ = false;
  bool put_off_ = false;  // `held_` is the stream's end, and `response_` is to be kept before it is told
  std::unique_ptr<EventFlow> flow_;
  model::Attempt& attempt_;
  bool ended_ = false;  // by [DONE] or an error
  std::string passed_lines_;
  std::string held_;  // whole events that wait for the commit point, or until their response is kept
  std::string response_;
  std::unique_ptr<Error> error_;
};

[[gnu::noinline]] void Relaying::end(std::optional<Error> error) {
  over_ = true;
  note_facts();
  if (error) error_ = std::make_unique<Error>(*std::move(error));
}

void Relaying::note_facts() {
  attempt_.usage = flow_->usage();
  state_.finish_reason = shown_finish(flow_->finish_reason(), *attempt_.target);
}

bool Relaying::read_usage(const Piece& piece) {
  EventFlow::Output step;
  flow_->feed(piece.bytes, body_end(piece), step);
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
  if (waited.error().kind != ErrorKind::EventGapTimeout || !flow_->ended()) {
    return end(std::move(waited).error());
  }
  body_ended_ = true;  // as far as we wait for it
  end_unwritten_ = true;
}

[[gnu::noinline]] void Relaying::write_end() {
  state_.heartbeat->stop();
  std::string closing;
  flow_->close(closing);
  const std::string_view piece = closing;
  const bool gone = state_.client.write({&piece, 1}, ClientPort::Last::Yes) == ClientPort::Taken::Gone;
  end_unwritten_ = false;
  end(gone ? std::optional(client_gone()) : std::nullopt);
}

// One more event in the flow, which changes nothing but what the client has. False: nothing was done.
[[gnu::noinline]] bool Relaying::pass(const Piece& piece) {
  if (!delivered_ || piece.kind != Piece::Kind::Bytes || piece.last) return false;
  EventFlow::Pieces pieces;
  const std::span<const std::string_view> passed = flow_->pass(piece.bytes, pieces);
  if (passed.empty()) return false;
  gap_until_ = {};
  state_.heartbeat->touch();
  if (state_.client.write(passed, ClientPort::Last::No) == ClientPort::Taken::Gone) end(client_gone());
  return true;
}

[[gnu::noinline]] void Relaying::take_in_full(const Piece& piece) {
  body_ended_ = piece.last || piece.kind != Piece::Kind::Bytes;
  EventFlow::Output step;
  flow_->feed(piece.bytes, body_end(piece), step);
  if (step.line) gap_until_ = {};
  ended_ = step.ended || step.error;
  // The dialect has read what the provider says; the catalogue knows what it means.
  if (step.error && step.error->kind == ErrorKind::StreamError) {
    step.error = providers::classify_error_object(attempt_.target->kind, *step.error,
                                                  providers::credential_of(*attempt_.target));
  }
  if (piece.kind == Piece::Kind::Failed && !step.ended && !step.error && !flow_->ended()) {
    // The transport broke; a stream that had ended by its own words is complete all the same.
    step.error = Error::upstream(piece.error == ErrorKind::BodyCut ? ErrorKind::StreamCut : piece.error,
                                 AttemptPhase::ReplyBegun, piece.reason);
  }
  if (body_ended_ && !step.error && !step.ended) {
    if (const auto fault = flow_->fault_at_end()) {
      step.error = Error::upstream(*fault, AttemptPhase::ReplyBegun,
                                   "the provider's stream ended before its answer did");
    }
  }
  const bool finished = step.ended || body_ended_;
  if (finished && !step.error && !flow_->content_seen() && !flow_->empty_is_legitimate()) {
    step.error =
        Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun, "the provider's answer is empty");
  }
  if (step.error) {
    step.error->phase = AttemptPhase::ReplyBegun;
    note_empty_reply(state_, *step.error, flow_->blank_seen(), !flow_->finish_reason().empty());
  }

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

void Relaying::hand_over(EventFlow::Output& step, bool finished) {
  ClientPort& client = state_.client;
  if (!attempt_.delivered) {
    commit(state_, attempt_);
    delivered_ = true;
    if (state_.keeping) {
      put_first_right(step);
    } else {
      state_.incoming.free_body();  // nothing can be sent again
    }
    if (!client.begun()) {
      client.begin(
          200, reply_header_lines(state_, attempt_, stream_type_of(state_.array_stream()), passed_lines_));
    }
    std::string().swap(passed_lines_);
  }
  const bool last = finished && !step.error;
  if (state_.keeping && flow_->ended() && put_end_off(step, last)) return;
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

// The events before the content say of the provider's store what is true of ours.
[[gnu::noinline]] void Relaying::put_first_right(EventFlow::Output& step) {
  std::string events = std::move(held_);
  for (const std::string_view piece : step.out) events.append(piece);
  step.out = {};
  held_ = told_events(state_, events);
}

// The event that ends a response has come: it is held back, as the client would ask for what it names.
[[gnu::noinline]] bool Relaying::put_end_off(EventFlow::Output& step, bool last) {
  if (step.error) return false;
  std::string events = std::move(held_);
  for (const std::string_view piece : step.out) events.append(piece);
  events.append(std::exchange(step.line_end, {}));
  auto told = told_last_event(state_, events, response_);
  put_off_ = told.has_value();
  held_ = told ? *std::move(told) : std::move(events);
  if (!put_off_) {
    step.out = {};
    return false;
  }
  put_off_last_ = last;
  state_.heartbeat->stop();
  return true;
}

[[gnu::noinline]] void Relaying::write_put_off(bool kept) {
  put_off_ = false;
  if (!kept) held_ = told_events(state_, held_);
  state_.keeping.reset();  // what may still come is no answer
  const std::string_view piece = held_;
  const auto taken =
      state_.client.write({&piece, 1}, put_off_last_ ? ClientPort::Last::Yes : ClientPort::Last::No);
  std::string().swap(held_);
  if (taken == ClientPort::Taken::Gone) return end(client_gone());
  if (put_off_last_) end(std::nullopt);
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
      relaying.client_waited_for();
      if (!flushed) relaying.client_left(flushed);
    }
    if (relaying.is_put_off()) {
      reply.keep();
      const bool kept = co_await keep_response(state, relaying.take_response());
      relaying.write_put_off(kept);
      continue;
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

std::unique_ptr<EventFlow> make_event_flow(RequestState& state, const model::Attempt& attempt) {
  const model::Target& target = *attempt.target;
  const auto dialect = model::conversation_at(attempt.endpoint);
  if (attempt.translated) {
    auto decoder = dialects::provider_dialect(*dialect)->stream_decoder(target, state.incoming.id.text());
    decoder->expect_choices(state.translation->choices_asked());
    return std::make_unique<TranslatedFlow>(std::move(decoder), state.translation->new_encoder(),
                                            target.joins_line_breaks);
  }
  if (dialect == model::Dialect::Anthropic || dialect == model::Dialect::Gemini) {
    return std::make_unique<NativeFlow>(
        *dialect, target, state.incoming.id.text(), openai::name_to_restore(state.facts.model, target),
        state.snapshot.limits.event_max, dialects::choices_asked(*dialect, state.facts.document));
  }
  return std::make_unique<Sieve>(state, target);
}

Task<Result<>> relay_stream(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const auto type = reply.head().fields.find("content-type");
  return type && !is_stream_of(attempt.endpoint, *type) ? unstreamed(state, attempt, reply)
                                                        : relay_events(state, attempt, reply);
}

}  // namespace qq::relay
