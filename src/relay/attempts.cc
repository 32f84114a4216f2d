#include "relay/attempts.h"

#include <fmt/format.h>

#include "dialects/openai/errors.h"
#include "dialects/openai/request.h"
#include "providers/upstream_error.h"
#include "relay/answer.h"
#include "relay/reply_head.h"
#include "relay/stream.h"
#include "resilience/evidence.h"
#include "resilience/last_candidate.h"
#include "resilience/next_step.h"
#include "resilience/retry_advice.h"

namespace qq::relay {
namespace {

// An error's last words get this long to reach a client, also when the request itself is cancelled.
constexpr Milliseconds kErrorDelivery{2'000};

struct Chosen {
  std::size_t index = 0;
  const model::Target* target = nullptr;
  resilience::TargetHealth* health = nullptr;
  resilience::TargetHealth::Admission admission;
};

resilience::TargetHealth& health_of(const RequestState& state, const model::Target& target) {
  return *state.snapshot.healths[target.index];
}

Chosen chosen(const RequestState& state, std::size_t index, resilience::TargetHealth::Admission admission) {
  const model::Target* target = state.plan.targets[index];
  return {index, target, &health_of(state, *target), admission};
}

void note_refusal(RequestState& state, const model::Target& target, MonotonicTime now) {
  model::Attempt attempt;
  attempt.target = &target;
  attempt.outcome = model::Outcome::Refused;
  attempt.started = attempt.ended = now;
  attempt.error = Error::gateway(ErrorKind::NoTarget, "not tried: its breaker is open or it is cooling down");
  state.attempts.push_back(std::move(attempt));
}

// The first target from `from` on that may be tried now; refusals on the way are noted. When no target of
// the plan was tried and only breakers are to blame, one of them is tried all the same.
std::optional<Chosen> choose(RequestState& state, std::size_t from) {
  const MonotonicTime now = state.services.loop.now();
  for (std::size_t i = from; i < state.plan.targets.size(); ++i) {
    const model::Target& target = *state.plan.targets[i];
    if (auto admission = health_of(state, target).try_admit(now)) return chosen(state, i, *admission);
    note_refusal(state, target, now);
  }
  if (!std::ranges::all_of(state.attempts, [](const model::Attempt& a) { return a.outcome == model::Outcome::Refused; })) {
    return std::nullopt;
  }
  std::vector<resilience::Standing> standings;
  for (const model::Target* target : state.plan.targets) standings.push_back(health_of(state, *target).standing(now));
  if (const auto forced = resilience::last_candidate(standings)) {
    return chosen(state, *forced, health_of(state, *state.plan.targets[*forced]).force_admit());
  }
  return std::nullopt;
}

// An error's own body, as much as is worth keeping, within the first-byte timer.
Task<std::string> read_error_body(RequestState& state, UpstreamReply& reply) {
  std::string body;
  const MonotonicTime deadline = state.services.loop.now() + state.snapshot.timers.first_byte;
  for (;;) {
    const UpstreamReply::Piece piece = reply.try_read();
    if (piece.kind == UpstreamReply::Piece::Kind::WouldBlock) {
      if (co_await reply.readable(state.scope().until(deadline)) != net::Wake::Ready) break;
      continue;
    }
    if (piece.kind != UpstreamReply::Piece::Kind::Bytes) break;
    body.append(piece.bytes.substr(0, state.snapshot.limits.error_body_max - body.size()));
    if (piece.last || body.size() >= state.snapshot.limits.error_body_max) break;
  }
  co_return body;
}

// What a reply means that is no 2xx answer.
Task<Error> refusal_of(RequestState& state, const model::Target& target, UpstreamReply& reply) {
  const int status = reply.status();
  // The head is only valid until we wait for the body, so what the body does not decide is read now.
  const WallTime wall_now = state.services.loop.wall_now();
  Error from_head = providers::classify_reply(target.kind, status, reply.head().fields, {}, wall_now);
  const std::optional<Milliseconds> retry_after = from_head.retry_after;
  const std::string body = co_await read_error_body(state, reply);
  const wire::Fields no_fields;
  Error error = providers::classify_reply(target.kind, status, no_fields, body, wall_now);
  if (retry_after) error.retry_after = retry_after;
  error.phase = AttemptPhase::ReplyBegun;
  co_return error;
}

Task<Result<>> run_attempt(RequestState& state, const model::Target& target, model::Attempt& attempt) {
  const model::Endpoint endpoint = state.incoming.endpoint;
  Result<std::unique_ptr<UpstreamReply>> sent = fail(Error());
  {
    dialects::openai::TargetBody body;
    dialects::openai::encode_for_target(state.facts, state.incoming.body, endpoint, target, body);
    UpstreamCall call;
    call.target = &target;
    call.endpoint = endpoint;
    call.request_id = state.incoming.id.text();
    call.header_lines = state.incoming.header_lines;
    call.body_pieces = body.pieces;
    call.body_bytes = body.bytes;
    call.stream = state.facts.stream;
    const MonotonicTime from = state.services.loop.precise_now();
    sent = co_await state.services.upstream.send(call, state.snapshot.timers, state.scope());
    state.upstream_wait += std::max(state.services.loop.now() - from, std::chrono::nanoseconds{0});
  }
  if (!sent) {
    attempt.reached_provider = sent.error().phase != AttemptPhase::NotSent;
    co_return fail(std::move(sent).error());
  }
  UpstreamReply& reply = **sent;
  attempt.reached_provider = true;
  attempt.status = static_cast<std::uint16_t>(reply.status());
  attempt.first_byte = state.services.loop.now();
  if (reply.status() < 200 || reply.status() > 299 || reply.status() == 204 || reply.status() == 205) {
    co_return fail(co_await refusal_of(state, target, reply));
  }
  if (state.facts.stream) co_return co_await relay_stream(state, attempt, reply);
  co_return co_await relay_answer(state, attempt, reply);
}

// What the attempt tells about the target, and what follows for it.
void judge_target(RequestState& state, const Chosen& chosen, model::Attempt& attempt) {
  const MonotonicTime now = state.services.loop.now();
  if (!attempt.error) {
    chosen.health->record(chosen.admission, resilience::Evidence::Success, now);
    return;
  }
  chosen.health->note_failure(*attempt.error, now, state.services.random);
  chosen.health->record(chosen.admission, resilience::evidence_of(*attempt.error), now);
}

// When a client may come back that no target could serve.
Milliseconds advice(const RequestState& state) {
  const MonotonicTime now = state.services.loop.now();
  std::vector<resilience::Standing> standings;
  for (const model::Target* target : state.plan.targets) standings.push_back(health_of(state, *target).standing(now));
  return resilience::retry_advice(standings, now);
}

bool is_clients_own(const Error& error) { return error.origin == ErrorOrigin::Client; }

// Tells the client what the whole chain came to.
Task<void> answer_error(RequestState& state, Error error) {
  if (error.kind == ErrorKind::RateLimited || error.kind == ErrorKind::NoTarget ||
      error.kind == ErrorKind::Overloaded || error.kind == ErrorKind::CredentialDead ||
      error.kind == ErrorKind::QuotaExhausted) {
    error.retry_after = advice(state);
  }
  if (state.heartbeat) state.heartbeat->stop();
  state.error = std::move(error);
  ClientPort& client = state.client;
  if (state.error->kind == ErrorKind::ClientGone || state.error->kind == ErrorKind::ClientStalled) {
    client.abort();
    co_return;
  }
  const net::Scope last_words{state.services.loop.now() + kErrorDelivery, nullptr};
  if (client.pending()) {
    if (Result<> flushed = co_await client.flush(last_words); !flushed) co_return;
  }
  ClientPort::Taken taken;
  if (client.begun()) {
    state.interrupted = true;
    const std::string event =
        dialects::openai::encode_stream_error(*state.error, state.incoming.endpoint, state.incoming.id.text());
    const std::string_view piece = event;
    taken = client.write({&piece, 1}, ClientPort::Last::Yes);
  } else {
    const auto encoded = dialects::openai::encode_error(*state.error, state.incoming.id.text());
    const std::string lines =
        error_header_lines(state.incoming.id.text(), state.plan.route, state.attempts, *state.error);
    const std::string_view piece = encoded.body;
    taken = client.reply(encoded.status, lines, {&piece, 1});
  }
  if (taken == ClientPort::Taken::Pending) co_await client.flush(last_words);
}

Error nothing_left(const RequestState& state) {
  for (auto it = state.attempts.rbegin(); it != state.attempts.rend(); ++it) {
    if (it->outcome == model::Outcome::Failure && it->error) return *it->error;
  }
  return Error::gateway(ErrorKind::NoTarget,
                        fmt::format("every provider of `{}` is failing or at its limits right now; try again later",
                                    state.plan.route));
}

}  // namespace

Task<void> run_attempts(RequestState& state) {
  net::EventLoop& loop = state.services.loop;
  state.attempts.reserve(state.plan.targets.size());
  if (state.facts.stream) {
    state.heartbeat.emplace(loop, state.client, state.snapshot.timers.heartbeat,
                            waiting_header_lines(state.incoming.id.text(), state.plan.route));
    state.heartbeat->start();
  }
  std::size_t from = 0;
  std::optional<Chosen> now_trying = choose(state, from);
  bool is_repeat = false;
  while (now_trying) {
    state.attempts.emplace_back();
    const std::size_t slot = state.attempts.size() - 1;
    state.attempts[slot].target = now_trying->target;
    state.attempts[slot].started = loop.precise_now();
    Result<> ran = co_await run_attempt(state, *now_trying->target, state.attempts[slot]);
    if (is_repeat) state.services.retry_budget.retry_finished();
    is_repeat = false;
    model::Attempt& attempt = state.attempts[slot];
    attempt.ended = loop.precise_now();
    if (ran) {
      attempt.outcome = model::Outcome::Success;
    } else {
      attempt.error = std::move(ran).error();
      const bool given_up = is_clients_own(*attempt.error) || attempt.error->kind == ErrorKind::Cancelled ||
                            attempt.error->kind == ErrorKind::ShuttingDown;
      attempt.outcome = given_up ? model::Outcome::Cancelled : model::Outcome::Failure;
    }
    judge_target(state, *now_trying, attempt);
    if (!attempt.error) {
      if (state.heartbeat) state.heartbeat->stop();
      co_return;
    }
    if (attempt.outcome == model::Outcome::Cancelled || attempt.delivered) break;

    resilience::Situation situation;
    situation.now = loop.now();
    situation.deadline = state.deadline;
    situation.client_gone = state.client.gone().cancelled();
    situation.more_targets = now_trying->index + 1 < state.plan.targets.size();
    situation.available_at = now_trying->health->available_at(situation.now);
    const std::int64_t in_flight = state.services.counters.requests_in_flight.get();
    situation.retry_allowed = state.services.retry_budget.has_place(in_flight, situation.now);
    const resilience::NextStep step = resilience::next_step(state.plan, state.attempts, situation, state.services.random);
    if (const auto* same = std::get_if<resilience::SameTarget>(&step)) {
      if (!state.services.retry_budget.try_take(in_flight, situation.now)) {
        state.services.counters.retry_budget_overflows.add();
        break;
      }
      const Chosen previous = *now_trying;
      const net::Wake wake = co_await net::sleep(loop, state.scope().until(loop.now() + same->delay));
      const auto admission = wake == net::Wake::Cancelled ? std::nullopt : previous.health->try_admit(loop.now());
      if (!admission) {
        state.services.retry_budget.retry_finished();
        break;
      }
      now_trying = chosen(state, previous.index, *admission);
      is_repeat = true;
      continue;
    }
    if (!std::holds_alternative<resilience::NextTarget>(step)) break;
    from = now_trying->index + 1;
    now_trying = choose(state, from);
  }
  if (state.client.gone().cancelled()) {
    const ErrorKind why = state.client.gone().reason();
    if (why == ErrorKind::ShuttingDown) {
      co_await answer_error(state, Error::gateway(why, "the gateway is shutting down; try again"));
    } else {
      co_await answer_error(state, Error::client(ErrorKind::ClientGone, "the client closed the connection"));
    }
    co_return;
  }
  co_await answer_error(state, nothing_left(state));
}

}  // namespace qq::relay
