#include "relay/delivery.h"

namespace qq::relay {

Result<> after_wait(RequestState& state, net::Wake wake, const net::Scope& scope, ErrorKind timeout,
                    MonotonicTime from) {
  net::EventLoop& loop = state.services.loop;
  state.upstream_wait += std::max(loop.now() - from, MonotonicTime::duration{0});
  if (wake == net::Wake::Ready) return {};
  if (wake == net::Wake::Cancelled) {
    const ErrorKind why = scope.cancel->reason();
    return fail(why == ErrorKind::ClientGone ? Error::client(why, "the client closed the connection")
                                             : Error::gateway(why, "the request was given up"));
  }
  const bool total = loop.now() >= state.deadline;
  return fail(Error::upstream(total ? ErrorKind::TotalTimeout : timeout, AttemptPhase::ReplyBegun,
                              total ? "the request's deadline came before the answer's end"
                                    : "the provider was silent for too long"));
}

Error client_gone() {
  return Error::client(ErrorKind::ClientGone, "the client closed the connection");
}

Task<Result<>> taken_by_client(RequestState& state, ClientPort::Taken taken) {
  if (taken == ClientPort::Taken::Gone) co_return fail(client_gone());
  if (taken == ClientPort::Taken::Pending) co_return co_await state.client.flush(state.scope());
  co_return Result<>();
}

}  // namespace qq::relay
