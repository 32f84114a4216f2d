#include "relay/held/held_exchange.h"

#include <algorithm>
#include <optional>

#include "net/wait.h"
#include "providers/masking.h"
#include "providers/upstream_error.h"
#include "relay/delivery.h"
#include "relay/read_body.h"
#include "resilience/evidence.h"
#include "wire/json.h"

namespace qq::relay {
namespace {

// A client that left does not make the provider forget what it has been told: it is heard out so long.
constexpr Milliseconds kHearOut{15'000};
constexpr int kRepeatsMost = 2;

std::optional<MonotonicTime> heard_out_until(const RequestState& state) {
  const MonotonicTime now = state.services.loop.now();
  const MonotonicTime until = std::min({state.deadline, now + kHearOut, state.services.requests_until});
  return until > now ? std::optional(until) : std::nullopt;
}

class HearOut final : public UpstreamCall::Patience {
 public:
  explicit HearOut(const RequestState& state) noexcept : state_(state) {}
  std::optional<MonotonicTime> wait_until() override {
    if (!until_) until_ = heard_out_until(state_);
    if (!until_ || state_.services.loop.now() >= *until_) return std::nullopt;
    return until_;
  }

 private:
  const RequestState& state_;
  std::optional<MonotonicTime> until_;
};

std::unexpected<Error> failed(RequestState& state, Error error) {
  providers::hide_credential(error, *state.attempts.back().target);
  error.retry_after = resilience::bounded_retry_after(error);
  note_held_end(state, &error);
  return fail(std::move(error));
}

UpstreamCall held_call_of(const RequestState& state, const model::Target& target,
                          const HeldQuestion& question) {
  UpstreamCall call;
  call.method = question.method;
  call.creates = question.creates;
  call.target = &target;
  call.endpoint = state.incoming.endpoint;
  call.path = question.path;
  call.request_id = state.incoming.id.text();
  call.header_lines = state.incoming.header_lines;
  call.content_type = question.content_type;
  call.body_pieces = question.pieces;
  for (const std::string_view piece : question.pieces) call.body_bytes += piece.size();
  return call;
}

// What else it may be worth to ask again for.
bool may_pass(const Error& error) noexcept {
  switch (error.kind) {
    case ErrorKind::EarlyClose:
    case ErrorKind::Reset:
    case ErrorKind::Overloaded:
    case ErrorKind::ServerError: return true;
    default: return false;
  }
}

bool may_repeat(const HeldQuestion& question, const Error& error) noexcept {
  if (error.origin != ErrorOrigin::Upstream) return false;
  const bool was_not_sent = error.phase == AttemptPhase::NotSent && error.kind != ErrorKind::TotalTimeout;
  return was_not_sent || (question.method == UpstreamCall::Method::Get && may_pass(error));
}

net::Scope scope_of(const RequestState& state, const HeldQuestion& question) noexcept {
  return question.within.value_or(state.scope());
}

// A reply that is no good one.
Task<Error> read_refusal(RequestState& state, const model::Target& target, UpstreamReply& reply,
                         net::Scope within) {
  const WallTime now = state.services.loop.wall_now();
  const int status = reply.status();
  const auto retry_after = providers::retry_after(reply.head().fields, {}, now);
  const MonotonicTime from = state.services.loop.precise_now();
  const net::Scope scope = within.until(state.services.loop.now() + state.snapshot.timers.first_byte);
  const BodyRead body = co_await read_body(reply, state.snapshot.limits.error_body_max, scope);
  count_wait(state, from);
  const wire::Fields none;
  Error error =
      providers::classify_reply(target, status, none, body.bytes, now, providers::credential_of(target));
  if (retry_after) error.retry_after = retry_after;
  error.phase = AttemptPhase::ReplyBegun;
  co_return error;
}

Error late_document() {
  return Error::upstream(ErrorKind::FirstContentTimeout, AttemptPhase::ReplyBegun,
                         "the provider was silent for too long");
}

}  // namespace

std::string held_path(const RequestState& state, const model::Target& target, std::string_view below) {
  std::string path = target.endpoint(state.incoming.endpoint).path_and_query;
  if (!below.empty()) path.append("/").append(below);
  return path;
}

void note_held_end(RequestState& state, const Error* error) {
  model::Attempt& attempt = state.attempts.back();
  attempt.ended = state.services.loop.precise_now();
  attempt.outcome = model::Outcome::Success;
  if (error == nullptr) return;
  attempt.error = *error;
  const bool is_given_up = error->origin == ErrorOrigin::Client || error->kind == ErrorKind::Cancelled ||
                           error->kind == ErrorKind::ShuttingDown;
  attempt.outcome = is_given_up ? model::Outcome::Cancelled : model::Outcome::Failure;
}

Task<Result<std::unique_ptr<UpstreamReply>>> ask_target(RequestState& state, const model::Target& target,
                                                        const HeldQuestion& question) {
  model::Attempt& started = state.attempts.emplace_back();
  started.target = &target;
  started.endpoint = state.incoming.endpoint;
  started.started = state.services.loop.precise_now();
  UpstreamCall call = held_call_of(state, target, question);
  HearOut patience(state);
  if (question.creates) call.patience = &patience;
  const MonotonicTime from = state.services.loop.precise_now();
  Result<std::unique_ptr<UpstreamReply>> sent = co_await state.services.upstream.send(
      call, state.snapshot.timers_of(target), scope_of(state, question));
  count_wait(state, from);
  model::Attempt& attempt = state.attempts.back();
  attempt.reached_provider = sent || sent.error().phase != AttemptPhase::NotSent;
  if (!sent) co_return failed(state, std::move(sent).error());
  attempt.status = static_cast<std::uint16_t>((*sent)->status());
  attempt.first_byte = state.services.loop.now();
  const bool is_good = attempt.status >= 200 && attempt.status <= 299;
  if (!is_good) {
    Error refusal = co_await read_refusal(state, target, **sent, scope_of(state, question));
    co_return failed(state, std::move(refusal));
  }
  note_held_end(state, nullptr);
  co_return *std::move(sent);
}

Task<Result<std::unique_ptr<UpstreamReply>>> ask_holder(RequestState& state, const model::Target& target,
                                                        const HeldQuestion& question) {
  LoopServices& services = state.services;
  for (int repeats = 0;; ++repeats) {
    Result<std::unique_ptr<UpstreamReply>> reply = co_await ask_target(state, target, question);
    if (repeats > 0) services.retry_budget.retry_finished();
    if (reply || repeats == kRepeatsMost || !may_repeat(question, reply.error())) co_return reply;
    const model::RetryRules rules;
    const auto longest = std::min(rules.backoff_max, rules.backoff_base * (1 << repeats));
    const Milliseconds wait = reply.error().retry_after.value_or(
        Milliseconds(services.random.below(static_cast<std::size_t>(longest.count()) + 1)));
    const MonotonicTime now = services.loop.now();
    if (now + wait >= state.deadline || wait > rules.backoff_max) co_return reply;
    if (!services.retry_budget.try_take(services.counters.requests_in_flight.get(), now)) {
      services.counters.retry_budget_overflows.add();
      co_return reply;
    }
    const net::Wake wake = co_await net::sleep(services.loop, state.scope().until(now + wait));
    count_wait(state, now);
    if (wake == net::Wake::Cancelled) {
      services.retry_budget.retry_finished();
      co_return fail(net::cancelled_error(state.scope()));
    }
  }
}

Task<Result<std::string>> read_document(RequestState& state, UpstreamReply& reply,
                                        const HeldQuestion& question) {
  const MonotonicTime now = state.services.loop.now();
  net::Scope scope = scope_of(state, question).until(now + state.snapshot.timers.first_content);
  if (question.creates) scope = {heard_out_until(state).value_or(now), nullptr};
  BodyRead body = co_await read_body(reply, state.snapshot.limits.held_answer_max, scope);
  count_wait(state, now);
  using End = BodyRead::End;
  switch (body.end) {
    case End::Whole: break;
    case End::Full:
      co_return failed(state, Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                              "the provider's answer is larger than limits.held_answer_max"));
    case End::Late: co_return failed(state, late_document());
    case End::Cancelled: co_return failed(state, net::cancelled_error(scope, AttemptPhase::ReplyBegun));
    case End::Broken:
      co_return failed(state, Error::upstream(body.error, AttemptPhase::ReplyBegun, body.reason));
  }
  if (wire::check_json(body.bytes) || !wire::JsonValue(body.bytes).is_object()) {
    co_return failed(state, Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun,
                                            "the provider's answer is no JSON object"));
  }
  note_held_end(state, nullptr);
  co_return std::move(body.bytes);
}

bool surely_refused(const Error& error) noexcept {
  if (error.origin != ErrorOrigin::Upstream || error.kind == ErrorKind::TotalTimeout) return false;
  if (error.phase == AttemptPhase::NotSent) return true;
  switch (error.kind) {
    case ErrorKind::RateLimited:
    case ErrorKind::QuotaExhausted:
    case ErrorKind::CredentialDead:
    case ErrorKind::Forbidden: return error.phase == AttemptPhase::ReplyBegun;
    default: return false;
  }
}

}  // namespace qq::relay
