#include "relay/settle.h"

#include "relay/socket_port.h"

namespace qq::relay {
namespace {

// What the answer used that the client got or would have got. What other tries used is theirs, at other
// models' prices: it stands in the attempts.
model::Usage usage_of(const RequestState& state) noexcept {
  for (auto attempt = state.attempts.rbegin(); attempt != state.attempts.rend(); ++attempt) {
    if (attempt->outcome != model::Outcome::Refused) return attempt->usage;
  }
  return {};
}

// A good attempt's end is the request's: nothing is waited for behind it, and a clock costs time to read.
MonotonicTime end_of(const RequestState& state) noexcept {
  const bool has_just_ended =
      !state.error && !state.attempts.empty() && state.attempts.back().outcome == model::Outcome::Success;
  return has_just_ended ? state.attempts.back().ended : state.services.loop.precise_now();
}

}  // namespace

void settle(RequestState& state) noexcept {
  RequestRecord record;
  record.request_id = state.incoming.id.text();
  record.method = state.incoming.method;
  record.path = state.incoming.path;
  if (!state.incoming.stored) record.endpoint = state.incoming.endpoint;
  record.route = state.plan.route;
  if (state.incoming.key != nullptr) {
    record.key_name = state.incoming.key->name;
    record.owner = state.incoming.key->owner;
  }
  record.stream = state.facts.stream;
  record.status = state.client.status();
  record.error = state.error;
  record.interrupted = state.interrupted;
  record.wall_started = state.incoming.wall_started;
  record.started = state.incoming.started;
  record.ended = end_of(state);
  record.first_content = state.first_content;
  record.upstream_wait = state.upstream_wait;
  record.client_wait = state.client.client_wait();
  record.attempts = state.attempts;
  record.usage = state.incoming.realtime ? state.incoming.realtime->used : usage_of(state);
  if (state.incoming.realtime) record.responses = state.incoming.realtime->responses;
  record.finish_reason = state.finish_reason;
  record.bytes_from_client = state.incoming.body_bytes;
  record.bytes_to_client = state.client.bytes_written();
  record.config_generation = state.snapshot.generation;
  state.services.observer.request_ended(record);
}

}  // namespace qq::relay
