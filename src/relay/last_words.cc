#include "relay/last_words.h"

#include "relay/client_words.h"
#include "relay/delivery.h"
#include "relay/reply_head.h"
#include "relay/translation.h"
#include "resilience/retry_advice.h"

namespace qq::relay {
namespace {

// An error's last words get this long to reach a client, also when the request itself is cancelled.
constexpr Milliseconds kErrorDelivery{2'000};

// When a client may come back that no target could serve.
Milliseconds advice(const RequestState& state) {
  const MonotonicTime now = state.services.loop.now();
  std::vector<resilience::Standing> standings;
  for (const model::Target* target : state.plan.targets)
    standings.push_back(state.snapshot.healths[target->index]->standing(now));
  return resilience::retry_advice(standings, now);
}

// "Not now" is said together with when; Anthropic's 529 is such a word.
constexpr bool may_be_told_when(int status) noexcept {
  return status == 429 || status == 503 || status == 529;
}

// An answer whose last bytes the client took after its time was up is an answer.
[[gnu::noinline]] void note_complete(RequestState& state) {
  state.error.reset();
  if (state.attempts.empty()) return;
  state.attempts.back().error.reset();
  state.attempts.back().outcome = model::Outcome::Success;
  state.attempts.back().ended = state.services.loop.precise_now();
}

// Who does not take the last words has not been told them. A deadline or our shutdown remains the reason.
[[gnu::noinline]] void note_untold(RequestState& state, const Error& flushed) {
  const ErrorKind why = state.error->kind;
  if (is_lost_client(flushed)) {
    state.error = flushed;
  } else if (why != ErrorKind::ShuttingDown && why != ErrorKind::TotalTimeout) {
    state.error = Error::client(ErrorKind::ClientStalled, "the client did not take the error it was sent");
  }
  state.client.abort();
}

// The error behind what was streamed. Where a translation had begun its encoder knows what must fit to what.
[[gnu::noinline]] std::string last_event(RequestState& state, const Error& error) {
  std::string out;
  if (state.delivered && state.attempts.back().translated) {
    state.translation->encode_stream_error(error, out);
  }
  if (out.empty()) encode_stream_error(state.incoming.endpoint, error, state.incoming.id.text(), out);
  return out;
}

}  // namespace

// It is the last attempt's that failed, if any's.
[[gnu::noinline]] Error error_to_tell(const RequestState& state) {
  for (auto it = state.attempts.rbegin(); it != state.attempts.rend(); ++it) {
    if (it->error && it->error->kind == state.error->kind && it->error->message == state.error->message) {
      return without_addresses(*state.error, it->target->provider);
    }
  }
  return *state.error;
}

Task<void> answer_error(RequestState& state, Error error) {
  const model::Dialect dialect = model::dialect_of(state.incoming.endpoint);
  if (const int status = encode_error(dialect, error, {}).status; may_be_told_when(status)) {
    error.retry_after = advice(state);
  }
  if (state.heartbeat) state.heartbeat->stop();
  state.error = std::move(error);
  ClientPort& client = state.client;
  if (state.incoming.realtime && client.begun()) {  // who is still there has been told
    state.interrupted = state.error->origin != ErrorOrigin::Client;
    co_return;
  }
  if (is_lost_client(*state.error)) {
    client.abort();
    co_return;
  }
  state.interrupted = client.begun() && !client.complete();
  if (state.interrupted && !state.facts.stream) co_return;  // it is cut: no error fits into its JSON
  const net::Scope last_words{state.services.loop.now() + kErrorDelivery, nullptr};
  if (client.pending()) {
    Result<> flushed = co_await client.flush(last_words);
    if (!flushed) co_return note_untold(state, flushed.error());
  }
  if (client.complete()) co_return note_complete(state);
  ClientPort::Taken taken;
  if (client.begun()) {
    const std::string event = last_event(state, error_to_tell(state));
    const std::string_view piece = event;
    taken = client.write({&piece, 1}, ClientPort::Last::Yes);
  } else {
    const auto encoded = encode_error(dialect, error_to_tell(state), state.incoming.id.text());
    const std::string lines =
        error_header_lines(dialect, state.incoming.id.text(), state.plan.route, state.attempts, *state.error);
    const std::string_view piece = encoded.body;
    taken = client.reply(encoded.status, lines, {&piece, 1});
  }
  if (taken == ClientPort::Taken::Gone) co_return note_untold(state, client_gone());
  if (taken == ClientPort::Taken::Pending) {
    Result<> flushed = co_await client.flush(last_words);
    if (!flushed) note_untold(state, flushed.error());
  }
}

}  // namespace qq::relay
