#include "relay/settle.h"

namespace qq::relay {

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
  record.ended = state.services.loop.precise_now();
  record.first_content = state.first_content;
  record.upstream_wait = state.upstream_wait;
  record.client_wait = state.client.client_wait();
  record.attempts = state.attempts;
  record.usage = state.usage;
  record.finish_reason = state.finish_reason;
  record.bytes_from_client = state.incoming.body_bytes;
  record.bytes_to_client = state.client.bytes_written();
  record.config_generation = state.snapshot.generation;
  state.services.observer.request_ended(record);
}

}  // namespace qq::relay
