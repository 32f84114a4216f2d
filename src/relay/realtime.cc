#include "relay/realtime.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/random.h"
#include "relay/delivery.h"
#include "relay/realtime_relay.h"
#include "relay/reply_head.h"
#include "relay/socket_port.h"
#include "wire/websocket_handshake.h"

namespace qq::relay {
namespace {

Result<> check_opening(const RequestState& state, UpstreamReply& reply) {
  if (reply.upgraded() == nullptr) {
    return fail(provider_fault(ErrorKind::BadContentType, "the provider answered without the upgrade"));
  }
  const char* const wrong = wire::check_websocket_reply(reply.head(), state.incoming.realtime->sent_key);
  if (wrong == nullptr) return {};
  return fail(
      provider_fault(ErrorKind::BadFrame, fmt::format("the provider's upgrade is broken: {}", wrong)));
}

// The client's 101 goes out.
[[gnu::noinline]] ClientPort::Taken accept(RequestState& state, model::Attempt& attempt,
                                           const UpstreamReply& reply) {
  const std::string passed = passed_header_lines(reply.head().fields, *attempt.target);
  commit(state, attempt);
  end_repeat(state);  // the connection may last for hours
  // The handshake is no content: of each response it is told when its first came.
  attempt.first_content.reset();
  state.first_content.reset();
  return state.incoming.realtime->port->accept(reply_header_lines(state, attempt, {}, passed));
}

}  // namespace

void encode_opening(const RequestState& state, const model::Attempt& attempt, std::string& path,
                    std::string& key, UpstreamCall& call) {
  std::array<char, 16> nonce;
  fill_with_secure_random(std::as_writable_bytes(std::span(nonce)));
  key = to_base64({nonce.data(), nonce.size()});
  path = attempt.target->endpoint(attempt.endpoint).path_and_query + state.incoming.realtime->more_query;
  state.incoming.realtime->sent_key = key;
  call.method = UpstreamCall::Method::Get;
  call.path = path;
  call.websocket_key = key;
  call.header_lines = state.incoming.header_lines;
}

Task<Result<>> relay_realtime(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  if (state.client.gone().cancelled()) co_return fail(net::cancelled_error(state.scope()));
  QQ_CO_CHECK(check_opening(state, reply));
  const MonotonicTime from = state.services.loop.now();
  const ClientPort::Taken taken = accept(state, attempt, reply);
  if (taken == ClientPort::Taken::Gone) co_return fail(client_gone());
  Result<> relayed;
  {
    RealtimeRelay relay(state, attempt, reply);
    relayed = co_await relay.run();
  }
  // An open connection waits for one side or the other.
  count_wait(state, from);
  state.incoming.body_bytes = state.incoming.realtime->bytes_read;
  co_return relayed;
}

}  // namespace qq::relay
