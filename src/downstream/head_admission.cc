#include "downstream/head_admission.h"

#include <fmt/format.h>

#include "base/utf8_cut.h"
#include "downstream/body_pace.h"
#include "downstream/models_list.h"
#include "downstream/realtime_opening.h"
#include "downstream/refusals.h"
#include "relay/admit.h"
#include "relay/called.h"
#include "relay/held/held_call.h"
#include "relay/socket_port.h"
#include "relay/stored_objects.h"

namespace qq::downstream {
namespace {

std::optional<Error> admit_held(Result<relay::HeldCall> held, const wire::RequestHead& head,
                                relay::IncomingRequest& incoming) {
  if (!held) return std::move(held).error();
  incoming.held = std::make_unique<relay::HeldCall>(*std::move(held));
  incoming.method = incoming.held->method;
  incoming.path = incoming.held->path;
  incoming.endpoint = relay::endpoint_of(incoming.held->kind);
  incoming.header_lines = relay::forwarded_header_lines(head.fields, model::dialect_of(incoming.endpoint));
  return std::nullopt;
}

}  // namespace

std::optional<Error> admit_head(const relay::LoopServices& services, const ListenerConfig& listener,
                                const wire::RequestHead& head, Admitted& admitted) {
  relay::IncomingRequest& incoming = admitted.incoming;
  const relay::Snapshot& snapshot = *incoming.snapshot;
  const std::string_view path = head.path();
  auto called = relay::endpoint_called(head);
  auto stored = called ? std::nullopt : relay::stored_call(head);
  const bool is_stored = stored || (!called && !relay::stored_methods(path).empty());
  auto held = called || is_stored ? std::nullopt : relay::held_call(head);
  const bool is_held = held || (!called && !is_stored && !relay::held_methods(path).empty());
  const bool is_models = !called && models_asked(head);
  if (!listener.serve_api || (!called && !is_models && !is_stored && !is_held)) {
    const std::string_view where =
        listener.serve_api ? "the API is under /v1/ and /v1beta/" : "this listener does not serve the API";
    return Error::client(ErrorKind::NotFound, fmt::format("no such path here: {} {}; {}", head.method,
                                                          cut_utf8(path, kShownMax), where));
  }
  const bool reads = head.method == "GET" || head.method == "HEAD";
  const bool is_object = is_stored || is_held;
  if (is_object ? !stored && !held : (called ? head.method != "POST" : !reads)) {
    return Error::client(ErrorKind::MethodNotAllowed,
                         fmt::format("{} is not allowed here; use {}", head.method.substr(0, 20),
                                     is_object ? allowed_methods(path) : (called ? "POST" : "GET")));
  }
  auto key = relay::authenticate(snapshot, head);
  if (!key) return std::move(key).error();
  incoming.key = &key->get();
  if (is_models) return std::nullopt;
  if (const auto coding = head.fields.find("content-encoding");
      coding && !wire::iequals(*coding, "identity")) {
    return Error::client(ErrorKind::InvalidRequest,
                         "compressed request bodies are not accepted; send it uncompressed");
  }
  const std::size_t body_max = snapshot.limits.body_max;
  const bool has_length = head.framing.kind == wire::Framing::Kind::Length;
  if (has_length && head.framing.length > body_max) return too_large(body_max);
  const int step = services.process.memory_step.load(std::memory_order_relaxed);
  if (step >= 2 || (step == 1 && (!has_length || head.framing.length > relay::kLargeBody))) {
    return short_of_memory();
  }
  if (stored) {
    if (!*stored) return std::move(*stored).error();
    incoming.stored = std::make_unique<relay::StoredCall>(**std::move(stored));
    incoming.method = incoming.stored->method;
    incoming.path = incoming.stored->path;
    incoming.endpoint = model::Endpoint::Responses;
    return std::nullopt;
  }
  if (held) return admit_held(*std::move(held), head, incoming);
  incoming.endpoint = called->endpoint;
  incoming.path = called->path;
  incoming.native = std::move(called->native);
  incoming.header_lines = relay::forwarded_header_lines(head.fields, model::dialect_of(called->endpoint));
  return std::nullopt;
}

std::optional<Error> admit_upgrade(const relay::LoopServices& services, const ListenerConfig& listener,
                                   bool finishing, const wire::RequestHead& head, Admitted& admitted) {
  if (!listener.serve_api) {
    return Error::client(ErrorKind::NotFound, "no such path here: this listener does not serve the API");
  }
  const auto presented = relay::presented_key(head);
  if (!presented) return presented.error();
  auto key = relay::known_key(*admitted.incoming.snapshot, *presented);
  if (!key) return std::move(key).error();
  admitted.incoming.key = &key->get();
  admitted.incoming.path = kWebsocketPath;
  if (finishing) return saturated("the gateway is shutting down; try again");
  if (services.process.memory_step.load(std::memory_order_relaxed) >= 2) return short_of_memory();
  auto upgraded = read_upgrade(head, *presented, admitted.incoming.id.text());
  if (!upgraded) {
    admitted.refusal_status = static_cast<std::uint16_t>(upgraded.error().status);
    return Error::client(ErrorKind::InvalidRequest, upgraded.error().reason);
  }
  admitted.upgrade = std::make_unique<WebsocketUpgrade>(*std::move(upgraded));
  return std::nullopt;
}

bool asks_for_realtime(const wire::RequestHead& head) noexcept {
  return head.path() == kRealtimePath;
}

std::optional<Error> admit_realtime(const relay::LoopServices& services, const ListenerConfig& listener,
                                    bool finishing, const wire::RequestHead& head, Admitted& admitted) {
  if (!listener.serve_api) {
    return Error::client(ErrorKind::NotFound, "no such path here: this listener does not serve the API");
  }
  if (head.method != "GET") {
    return Error::client(ErrorKind::MethodNotAllowed,
                         fmt::format("{} is not allowed here; use GET with an upgrade to WebSocket",
                                     head.method.substr(0, 20)));
  }
  relay::IncomingRequest& incoming = admitted.incoming;
  const auto presented = relay::presented_key(head);
  if (!presented) return presented.error();
  auto key = relay::known_key(*incoming.snapshot, *presented);
  if (!key) return std::move(key).error();
  incoming.key = &key->get();
  if (finishing) return saturated("the gateway is shutting down; try again");
  if (services.process.memory_step.load(std::memory_order_relaxed) >= 2) return short_of_memory();
  auto opening = read_realtime_opening(head, admitted.refusal_status);
  if (!opening) return std::move(opening).error();
  incoming.endpoint = model::Endpoint::Realtime;
  incoming.method = "GET";
  incoming.path = kRealtimePath;
  incoming.header_lines = relay::forwarded_header_lines(head.fields, model::Dialect::OpenAiChat);
  incoming.realtime = std::make_unique<relay::RealtimeCall>();
  incoming.realtime->model = std::move(opening->model);
  incoming.realtime->key = Secret(std::string(*presented));
  incoming.realtime->more_query = std::move(opening->more_query);
  admitted.realtime_lines = std::move(opening->reply_lines);
  return std::nullopt;
}

}  // namespace qq::downstream
