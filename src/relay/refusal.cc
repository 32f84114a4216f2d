#include "relay/refusal.h"

#include "providers/masking.h"
#include "providers/upstream_error.h"
#include "relay/delivery.h"
#include "relay/read_body.h"

namespace qq::relay {
namespace {

// An error's own body, as much as is worth keeping, within the first-byte timer. Fails only when the request
// is given up meanwhile.
Task<Result<std::string>> read_error_body(RequestState& state, UpstreamReply& reply) {
  const MonotonicTime from = state.services.loop.precise_now();
  const net::Scope scope = state.scope().until(state.services.loop.now() + state.snapshot.timers.first_byte);
  BodyRead body = co_await read_body(reply, state.snapshot.limits.error_body_max, scope);
  count_wait(state, from);
  if (body.end == BodyRead::End::Cancelled) co_return fail(net::cancelled_error(state.scope()));
  co_return std::move(body.bytes);
}

// What only the head of a refusal says: it is gone when we wait for the body.
struct RefusalHead {
  WallTime received{};
  std::optional<Milliseconds> retry_after;
  std::string aws_error_type;
};

[[gnu::noinline]] RefusalHead read_refusal_head(RequestState& state, const UpstreamReply& reply) {
  const WallTime now = state.services.loop.wall_now();
  return {now, providers::retry_after(reply.head().fields, {}, now),
          std::string(reply.head().fields.find(providers::kAwsErrorType).value_or(std::string_view()))};
}

[[gnu::noinline]] Error refusal(const model::Target& target, int status, const RefusalHead& head,
                                std::string_view body) {
  wire::Fields fields;
  if (!head.aws_error_type.empty()) fields.add({providers::kAwsErrorType, head.aws_error_type});
  Error error = providers::classify_reply(target, status, fields, body, head.received,
                                          providers::credential_of(target));
  if (head.retry_after && providers::may_wait(error.kind)) error.retry_after = head.retry_after;
  error.phase = AttemptPhase::ReplyBegun;
  return error;
}

}  // namespace

Task<void> take_refusal(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const RefusalHead head = read_refusal_head(state, reply);
  const Result<std::string> body = co_await read_error_body(state, reply);
  attempt.error = body ? refusal(*attempt.target, reply.status(), head, *body) : body.error();
}

}  // namespace qq::relay
