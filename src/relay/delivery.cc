#include "relay/delivery.h"

#include <utility>

namespace qq::relay {

void commit(RequestState& state, model::Attempt& attempt) {
  attempt.delivered = state.delivered = true;
  attempt.first_content = state.first_content = attempt.ended = state.services.loop.now();
  attempt.outcome = model::Outcome::Success;
  if (state.probe == nullptr) return;
  state.snapshot.healths[attempt.target->index]->record(*state.probe, resilience::Evidence::Success,
                                                        state.services.loop.now());
  state.probe = nullptr;
}

void end_repeat(RequestState& state) {
  if (std::exchange(state.is_repeat, false)) state.services.retry_budget.retry_finished();
}

Result<> after_wait(RequestState& state, net::Wake wake, const net::Scope& scope, ErrorKind timeout,
                    MonotonicTime from) {
  count_wait(state, from);
  if (wake == net::Wake::Ready) return {};
  if (wake == net::Wake::Cancelled) return fail(net::cancelled_error(scope));
  if (state.services.loop.now() >= state.deadline) {
    return fail(Error::upstream(ErrorKind::TotalTimeout, AttemptPhase::ReplyBegun,
                                "the request's deadline came before the answer's end"));
  }
  return fail(Error::upstream(timeout, AttemptPhase::ReplyBegun, "the provider was silent for too long"));
}

Error client_gone() {
  return Error::client(ErrorKind::ClientGone, "the client closed the connection");
}

bool is_lost_client(const Error& error) noexcept {
  return error.kind == ErrorKind::ClientGone || error.kind == ErrorKind::ClientStalled;
}

Task<Result<>> taken_by_client(RequestState& state, ClientPort::Taken taken) {
  if (taken == ClientPort::Taken::Gone) co_return fail(client_gone());
  if (taken == ClientPort::Taken::Pending) co_return co_await state.client.flush(state.scope());
  co_return Result<>();
}

}  // namespace qq::relay
