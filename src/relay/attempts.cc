#include "relay/attempts.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "providers/masking.h"
#include "relay/answer.h"
#include "relay/authorize.h"
#include "relay/binary_answer.h"
#include "relay/client_words.h"
#include "relay/content_type.h"
#include "relay/counting.h"
#include "relay/delivery.h"
#include "relay/last_words.h"
#include "relay/media_fetch.h"
#include "relay/outgoing.h"
#include "relay/plain_translation.h"
#include "relay/realtime.h"
#include "relay/refusal.h"
#include "relay/reply_head.h"
#include "relay/stream.h"
#include "relay/translation.h"
#include "relay/usage_drain.h"
#include "relay/whole_transcript.h"
#include "resilience/evidence.h"
#include "resilience/last_admission.h"
#include "resilience/next_step.h"

namespace qq::relay {
namespace {

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

// Once a request: a target that is passed over again after a repeat elsewhere is the same refusal.
void note_refusal(RequestState& state, const model::Target& target, MonotonicTime now) {
  if (std::ranges::any_of(state.attempts, [&](const model::Attempt& attempt) {
        return attempt.target == &target && attempt.outcome == model::Outcome::Refused;
      })) {
    return;
  }
  model::Attempt attempt;
  attempt.target = &target;
  attempt.outcome = model::Outcome::Refused;
  attempt.started = attempt.ended = now;
  attempt.error = Error::gateway(ErrorKind::NoTarget, "not tried: its breaker is open or it is cooling down");
  state.attempts.push_back(std::move(attempt));
}

// Whether the target was chosen and could not be asked this: to choose it once more would go on for ever.
bool cannot_do_it(const RequestState& state, const model::Target& target) {
  return std::ranges::any_of(state.attempts, [&](const model::Attempt& attempt) {
    return attempt.target == &target && attempt.outcome == model::Outcome::Refused && attempt.error &&
           attempt.error->kind != ErrorKind::NoTarget;
  });
}

// The first target from `from` on that may be tried now; refusals on the way are noted. When no target of
// the plan was tried and only breakers are to blame, one of them is tried all the same.
[[gnu::noinline]] std::optional<Chosen> choose(RequestState& state, std::size_t from) {
  const MonotonicTime now = state.services.loop.now();
  for (std::size_t i = from; i < state.plan.targets.size(); ++i) {
    const model::Target& target = *state.plan.targets[i];
    if (cannot_do_it(state, target)) continue;
    if (auto admission = health_of(state, target).try_admit(now)) return chosen(state, i, *admission);
    note_refusal(state, target, now);
  }
  if (!std::ranges::all_of(state.attempts,
                           [](const model::Attempt& a) { return a.outcome == model::Outcome::Refused; })) {
    return std::nullopt;
  }
  std::vector<std::size_t> shut_out;
  std::vector<resilience::TargetHealth*> healths;
  for (std::size_t i = 0; i < state.plan.targets.size(); ++i) {
    const model::Target& target = *state.plan.targets[i];
    if (cannot_do_it(state, target)) continue;
    shut_out.push_back(i);
    healths.push_back(&health_of(state, target));
  }
  const auto last = resilience::last_admission(healths, now);
  if (!last) return std::nullopt;
  return chosen(state, shut_out[last->index], last->admission);
}

// What came before, pictures and tokens, is not the provider's slowness.
void note_prepared(RequestState& state, model::Attempt& attempt) {
  const auto took = state.services.loop.precise_now() - attempt.started;
  attempt.prepared = std::chrono::duration_cast<decltype(attempt.prepared)>(took);
}

// Sends the request and waits for the reply's head. Null: `attempt.error` says why.
Task<std::unique_ptr<UpstreamReply>> send_request(RequestState& state, model::Attempt& attempt) {
  Outgoing outgoing;
  UpstreamCall call;
  if (attempt.translated && !is_plain(attempt.endpoint) && needs_media(state, attempt)) {
    Result<> fetched = co_await fetch_media(state, attempt);
    if (!fetched) {
      attempt.error = std::move(fetched).error();
      const bool may_go_elsewhere = attempt.error->kind == ErrorKind::InvalidRequest;
      if (may_go_elsewhere) attempt.outcome = model::Outcome::Refused;
      co_return nullptr;
    }
    note_prepared(state, attempt);
  }
  if (Result<> encoded = encode_request(state, attempt, outgoing, call); !encoded) {
    attempt.error = std::move(encoded).error();
    attempt.error->phase = AttemptPhase::NotSent;
    attempt.outcome = model::Outcome::Refused;
    co_return nullptr;
  }
  WaitForUsage patience(state);
  // An upgrade is no generation.
  if (attempt.target->drain_for_usage && !state.incoming.realtime) call.patience = &patience;
  const MonotonicTime from = state.services.loop.precise_now();
  std::string auth_lines;
  if (attempt.target->request_auth != model::RequestAuth::Fixed) {
    Result<> authorized = co_await authorize(state.services, call, auth_lines,
                                             state.snapshot.timers_of(*attempt.target), state.scope());
    if (!authorized) {
      count_wait(state, from);
      attempt.error = std::move(authorized).error();
      co_return nullptr;
    }
    note_prepared(state, attempt);
  }
  Result<std::unique_ptr<UpstreamReply>> sent =
      co_await state.services.upstream.send(call, state.snapshot.timers_of(*attempt.target), state.scope());
  count_wait(state, from);
  if (sent) co_return *std::move(sent);
  attempt.error = std::move(sent).error();
  co_return nullptr;
}

// A 101 comes to who has asked for an upgrade only.
bool is_answer(int status) noexcept {
  return (status >= 200 && status <= 299 && status != 204 && status != 205) || status == 101;
}

// A good status: what is it that comes?
Task<Result<>> relay_reply(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  if (state.incoming.realtime) return relay_realtime(state, attempt, reply);
  const std::string_view type = reply.head().fields.find("content-type").value_or(std::string_view());
  if (attempt.endpoint == model::Endpoint::InvokeEmbed)
    state.plain_translation->note_head(reply.head().fields);
  if (is_whole_transcript(state, attempt.endpoint, type))
    return relay_whole_transcript(state, attempt, reply);
  if (!state.facts.stream && is_binary_answer(attempt.endpoint, type))
    return relay_binary_answer(state, attempt, reply);
  return state.facts.stream ? relay_stream(state, attempt, reply) : relay_answer(state, attempt, reply);
}

// One try at `attempt.target`. A failure is left in `attempt.error`. What sending needs has ended with its
// own frame when the reply is relayed: an idle stream keeps little.
Task<void> run_attempt(RequestState& state, model::Attempt& attempt) {
  const std::unique_ptr<UpstreamReply> reply = co_await send_request(state, attempt);
  if (!reply) {
    attempt.reached_provider = attempt.error->phase != AttemptPhase::NotSent;
    co_return;
  }
  attempt.reached_provider = true;
  attempt.status = static_cast<std::uint16_t>(reply->status());
  attempt.first_byte = state.services.loop.now();
  if (!is_answer(reply->status())) {
    co_await take_refusal(state, attempt, *reply);
    co_return;
  }
  Task<Result<>> relaying = relay_reply(state, attempt, *reply);
  Result<> relayed = co_await std::move(relaying);
  if (!relayed) attempt.error = std::move(relayed).error();
}

// What the attempt tells about the target, and what follows for it. A probe that delivered content has told
// its success already; only a failure is news then.
void judge_target(RequestState& state, const Chosen& chosen, model::Attempt& attempt) {
  using resilience::AskedFor;
  const MonotonicTime now = state.services.loop.now();
  const bool settled = chosen.admission.ticket.probe && state.probe == nullptr;
  state.probe = nullptr;
  resilience::Evidence evidence = resilience::Evidence::Success;
  if (attempt.error) {
    chosen.health->note_failure(*attempt.error, now, state.services.random);
    evidence =
        resilience::evidence_of(*attempt.error, state.empty_asked_for ? AskedFor::Perhaps : AskedFor::No);
  }
  if (!settled) {
    chosen.health->record(chosen.admission, evidence, now);
  } else if (evidence == resilience::Evidence::Failure) {
    chosen.health->record_late_failure(chosen.admission, now);
  }
}

bool is_clients_own(const Error& error) {
  return error.origin == ErrorOrigin::Client;
}

Error nothing_left(const RequestState& state) {
  if (state.lost_client) return *state.lost_client;
  if (state.client.gone().cancelled()) {
    const ErrorKind why = state.client.gone().reason();
    return why == ErrorKind::ShuttingDown ? Error::gateway(why, "the gateway is shutting down; try again")
                                          : client_gone();
  }
  for (auto it = state.attempts.rbegin(); it != state.attempts.rend(); ++it) {
    if (it->outcome != model::Outcome::Refused && it->error) return *it->error;
  }
  // No target can do what was asked, for all we know: what the first one lacks is what the caller can change.
  for (const model::Attempt& attempt : state.attempts) {
    if (attempt.error && is_clients_own(*attempt.error)) return *attempt.error;
  }
  return Error::gateway(
      ErrorKind::NoTarget,
      fmt::format("every provider of `{}` is failing or at its limits right now; try again later",
                  state.plan.route));
}

[[gnu::noinline]] Task<void> answer_with_nothing_left(RequestState& state) {
  return answer_error(state, nothing_left(state));
}

[[gnu::noinline]] void note_start(RequestState& state, const Chosen& chosen) {
  model::Attempt& attempt = state.attempts.emplace_back();
  attempt.target = chosen.target;
  attempt.endpoint = *chosen.target->endpoint_for(state.incoming.endpoint);  // it is in the plan
  attempt.translated = is_translated(state, *chosen.target, attempt.endpoint);
  attempt.started = state.services.loop.precise_now();
  state.finish_reason.clear();
  state.empty_asked_for = false;
  state.probe = chosen.admission.ticket.probe ? &chosen.admission : nullptr;
}

[[gnu::noinline]] void note_end(RequestState& state, const Chosen& chosen, model::Attempt& attempt) {
  attempt.ended = state.services.loop.precise_now();
  if (attempt.translated && attempt.reached_provider) attempt.lost = losses_text_of(state);
  const bool was_refused = attempt.outcome == model::Outcome::Refused;
  attempt.outcome = model::Outcome::Success;
  if (attempt.error) {
    // Before anybody is told: the log, the client, the next decision. What a provider said has been through
    // this before it was cut; other errors come here first.
    providers::hide_credential(*attempt.error, *attempt.target);
    attempt.error->retry_after = resilience::bounded_retry_after(*attempt.error);
    // Who gives a request up knows nothing of how far it had come.
    if (attempt.status != 0) attempt.error->phase = AttemptPhase::ReplyBegun;
    const bool is_given_up = is_clients_own(*attempt.error) || attempt.error->kind == ErrorKind::Cancelled ||
                             attempt.error->kind == ErrorKind::ShuttingDown;
    attempt.outcome = is_given_up ? model::Outcome::Cancelled : model::Outcome::Failure;
    if (was_refused) attempt.outcome = model::Outcome::Refused;
  }
  judge_target(state, chosen, attempt);
}

// What follows an attempt that failed before anything was delivered: another target, the same again after a
// while (whose place in the retry budget is taken), or nothing.
struct Decision {
  std::optional<Chosen> next{};
  std::optional<Milliseconds> repeat_after{};
};
[[gnu::noinline]] Decision decide(RequestState& state, const Chosen& tried) {
  resilience::Situation situation;
  situation.now = state.services.loop.now();
  situation.deadline = state.deadline;
  situation.client_gone = state.client.gone().cancelled();
  situation.more_targets = tried.index + 1 < state.plan.targets.size();
  situation.available_at = tried.health->available_at(situation.now);
  const std::int64_t in_flight = state.services.counters.requests_in_flight.get();
  situation.retry_allowed = state.services.retry_budget.has_place(in_flight, situation.now);
  const std::size_t tries = state.attempts.size();  // refusals are noted behind them
  resilience::NextStep step =
      resilience::next_step(state.plan, state.attempts, situation, state.services.random);
  if (std::holds_alternative<resilience::NextTarget>(step)) {
    if (const auto next = choose(state, tried.index + 1)) return {.next = next};
    // The others may not be tried now, so this one is all there is.
    situation.more_targets = false;
    step = resilience::next_step(state.plan, std::span(state.attempts).first(tries), situation,
                                 state.services.random);
  }
  if (const auto* const stop = std::get_if<resilience::Stop>(&step)) {
    if (stop->for_budget) state.services.counters.retry_budget_overflows.add();
    return {};
  }
  const bool taken = state.services.retry_budget.try_take(in_flight, situation.now);
  QQ_ASSERT(taken);  // `has_place` said so, and nothing has happened since
  return {.repeat_after = std::get<resilience::SameTarget>(step).delay};
}

// Waits before a repeat, whose place in the retry budget is taken. Nothing if there will be none.
Task<std::optional<Chosen>> wait_for_repeat(RequestState& state, Chosen tried, Milliseconds delay) {
  net::EventLoop& loop = state.services.loop;
  const MonotonicTime from = loop.now();
  const net::Wake wake = co_await net::sleep(loop, state.scope().until(from + delay));
  count_wait(state, from);
  const auto admission = wake == net::Wake::Cancelled ? std::nullopt : tried.health->try_admit(loop.now());
  if (admission) co_return chosen(state, tried.index, *admission);
  state.services.retry_budget.retry_finished();
  co_return std::nullopt;
}

void start_heartbeat(RequestState& state) {
  state.heartbeat.emplace(state.services.loop, state.client, state.snapshot.timers.heartbeat,
                          waiting_header_lines(state),
                          heartbeat_of(state.incoming.endpoint, state.array_stream()));
  state.heartbeat->start();
}

}  // namespace

Task<void> run_attempts(RequestState& state) {
  state.attempts.reserve(state.plan.targets.size());
  if (state.facts.stream) start_heartbeat(state);
  std::optional<Chosen> trying = choose(state, 0);
  while (trying) {
    note_start(state, *trying);
    co_await run_attempt(state, state.attempts.back());
    end_repeat(state);
    model::Attempt& attempt = state.attempts.back();
    note_end(state, *trying, attempt);
    if (!attempt.error) {
      if (state.heartbeat) state.heartbeat->stop();
      co_return;
    }
    if (attempt.outcome == model::Outcome::Cancelled || attempt.delivered) break;
    if (attempt.outcome == model::Outcome::Refused) {  // cannot do it, and nothing was sent
      trying = choose(state, trying->index + 1);
      continue;
    }
    const Decision decision = decide(state, *trying);
    if (decision.repeat_after) {
      trying = co_await wait_for_repeat(state, *trying, *decision.repeat_after);
      state.is_repeat = trying.has_value();
    } else {
      trying = decision.next;
    }
  }
  state.estimates = is_for_estimate(state);
  if (!state.estimates) co_await answer_with_nothing_left(state);
}

}  // namespace qq::relay
