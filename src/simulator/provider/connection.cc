#include "simulator/provider/connection.h"

#include <fmt/format.h>

#include "simulator/provider/control.h"
#include "simulator/provider/player.h"
#include "simulator/provider/realtime_play.h"
#include "simulator/provider/respond.h"
#include "simulator/provider/vendor_errors.h"
#include "wire/body_reader.h"
#include "wire/websocket_handshake.h"

namespace qq::simulator {
namespace {

// The credential as any of the dialects sends it; of AWS the name of the access key.
std::string key_of(const wire::RequestHead& head) {
  constexpr std::string_view kBearer = "Bearer ";
  constexpr std::string_view kCredential = "Credential=";
  if (const auto value = head.fields.find("authorization")) {
    if (value->starts_with(kBearer)) return std::string(value->substr(kBearer.size()));
    const std::size_t at = value->find(kCredential);
    if (at == std::string_view::npos) return std::string(*value);
    const std::string_view credential = value->substr(at + kCredential.size());
    return std::string(credential.substr(0, credential.find('/')));
  }
  for (const std::string_view name : {"api-key", "x-api-key", "x-goog-api-key"}) {
    if (const auto value = head.fields.find(name)) return std::string(*value);
  }
  return query_value(head.query(), "key");
}

// Path, then header: what is known before the body.
Result<> apply_head_directives(Script& script, const wire::RequestHead& head, const RoutedPath& path) {
  if (script.vendor.empty()) script.vendor = path.vendor;
  QQ_CHECK(apply_directives(script, path.directives, '+'));
  for (const wire::Field& field : head.fields.all()) {
    if (wire::iequals(field.name, "x-sim-scenario")) QQ_CHECK(apply_directives(script, field.value, ';'));
  }
  return {};
}

wire::RequestHead parsed(std::string_view raw_head) {
  wire::RequestHead head;
  wire::read_request_head(raw_head, wire::HeadLimits{}, head);
  return head;
}

}  // namespace

Connection::Connection(ProviderSimulator& simulator, std::unique_ptr<net::Stream> stream)
    : simulator_(simulator),
      loop_(simulator.loop()),
      stream_(std::move(stream)),
      cancel_(loop_),
      id_(simulator.statistics().connection_opened()) {
  scope_.cancel = &cancel_;
}

Connection::~Connection() {
  if (stream_) stream_->watch_hangup(nullptr);  // a failed handshake took it along
  simulator_.statistics().connection_closed(control_);
}

Task<void> Connection::run() {
  const ConnectionOrder order = simulator_.scenario().next_connection();
  const bool obeyed = co_await obey(order);
  if (!obeyed) co_return;
  if (simulator_.options().tls) {
    const bool shaken = co_await shake_hands();
    if (!shaken) co_return;
  }
  for (;;) {
    const bool goes_on = co_await serve_one();
    if (!goes_on) break;
  }
}

Task<bool> Connection::obey(ConnectionOrder order) {
  if (order == ConnectionOrder::Serve) co_return true;
  if (order == ConnectionOrder::Reset) stream_->set_reset_on_close();
  if (order == ConnectionOrder::Stall) co_await finish(PlayEnd::Stall);
  co_return false;
}

Task<bool> Connection::shake_hands() {
  const net::Scope limited = scope_.until(loop_.precise_now() + std::chrono::seconds(10));
  auto secured = co_await net::tls_accept(std::move(stream_), simulator_.options().tls, limited);
  if (!secured) co_return false;
  stream_ = *std::move(secured);
  co_return true;
}

// More bytes into input_; false at the end of the connection.
Task<bool> Connection::read_more() {
  for (;;) {
    const std::span<char> scratch = loop_.scratch();
    const net::IoTry tried = stream_->try_read(scratch);
    if (tried.status == net::IoStatus::Done) {
      input_.append(scratch.data(), tried.bytes);
      co_return true;
    }
    if (tried.status != net::IoStatus::WouldBlock) co_return false;
    const net::Wake wake = co_await stream_->readable(scope_);
    if (wake != net::Wake::Ready) co_return false;
  }
}

Task<Connection::BodyRead> Connection::read_body(wire::Framing framing, std::string& body) {
  wire::BodyReader reader(framing);
  const std::size_t most = simulator_.options().request_body_max;
  std::size_t used = 0;
  while (!reader.done()) {
    const wire::BodyReader::Step step = reader.feed(std::string_view(input_).substr(used));
    if (step.error != nullptr) co_return BodyRead::Broken;
    if (body.size() + step.payload.size() > most) co_return BodyRead::TooLarge;
    body += step.payload;
    used += step.consumed;
    if (step.consumed > 0 || reader.done()) continue;
    input_.clear();
    used = 0;
    const bool more = co_await read_more();
    if (!more) {
      simulator_.statistics().request_was_cut_short();
      co_return BodyRead::Broken;
    }
  }
  input_.erase(0, used);
  co_return BodyRead::Complete;
}

Task<bool> Connection::send_plain(Reply reply, AskedFraming framing) {
  const Script script;
  const Play play = compose(std::move(reply), script, framing, loop_.wall_now());
  const Played played = co_await play_steps(*stream_, play, scope_);
  if (!played.all_written) co_return false;
  co_return co_await finish(play.end);
}

Task<bool> Connection::serve_one() {
  wire::RequestHead head;
  wire::HeadVerdict verdict;
  for (;;) {
    verdict = wire::read_request_head(input_, wire::HeadLimits{}, head);
    if (verdict.kind != wire::HeadVerdict::Kind::Incomplete) break;
    const bool more = co_await read_more();
    if (!more) {
      if (!input_.empty()) simulator_.statistics().request_was_cut_short();
      co_return false;
    }
  }
  AskedFraming framing;
  framing.keep_alive = false;
  if (verdict.kind == wire::HeadVerdict::Kind::Bad) {
    VendorError error;
    error.status = verdict.status;
    error.message = verdict.reason;
    co_return co_await send_plain(error_reply(error), framing);
  }
  std::string raw_head = input_.substr(0, verdict.consumed);
  // The head's views point into input_, which reading the body changes.
  const wire::Framing body_framing = head.framing;
  Script known;
  const RoutedPath path = route_path(head.path(), head.query());
  const bool early = apply_head_directives(known, head, path) && known.faults.has(Fault::EarlyReply);
  const bool invite = head.expect_continue && !early;
  input_.erase(0, verdict.consumed);
  if (early) co_return co_await reply_to(std::move(raw_head), std::string(), true);
  if (invite) {
    Play interim;
    interim.steps.push_back({"HTTP/1.1 100 Continue\r\n\r\n"});
    const Played played = co_await play_steps(*stream_, interim, scope_);
    if (!played.all_written) co_return false;
  }
  std::string body;
  const BodyRead read = co_await read_body(body_framing, body);
  if (read == BodyRead::Broken) co_return false;
  if (read == BodyRead::TooLarge) {
    VendorError error;
    error.status = 413;
    co_return co_await send_plain(error_reply(error), framing);
  }
  co_return co_await reply_to(std::move(raw_head), std::move(body), false);
}

Task<bool> Connection::reply_to(std::string raw_head, std::string body, bool early) {
  const wire::RequestHead head = parsed(raw_head);
  AskedFraming framing;
  framing.minor_version = head.minor_version;
  framing.keep_alive = head.keep_alive && !early;
  if (head.path().starts_with("/sim/") || head.path() == "/healthz") {
    if (!control_) simulator_.statistics().connection_is_control();
    control_ = true;
    Reply page = control_page(simulator_, head, body);
    co_return co_await send_plain(std::move(page), framing);
  }

  const RequestText request = RequestText::make(head.method, head.path(), body, head.query(), &head.fields);
  const std::string asked_model = model_of(request);
  const ModelName model = split_model(asked_model);
  Scenario::Situation situation;
  situation.model = model.name;
  const std::string key = key_of(head);
  situation.key = key;
  situation.route = request.path.route;
  situation.now = loop_.now();
  Script script = simulator_.scenario().choose(situation);
  if (!simulator_.options().strict) script.strict = false;
  Result<> applied = apply_head_directives(script, head, request.path);
  if (applied) applied = apply_directives(script, model.directives, '+');
  Reply reply;
  if (!applied) {
    VendorError error;
    error.status = 400;
    error.message = applied.error().message;
    reply = error_reply(error);
    script = Script{};
  } else {
    if (early && !script.status) script.status = 413;
    std::optional<Reply> held;
    if (!scripted_reply(script)) {
      held = simulator_.held().answer(request, head.path(), key, simulator_.library());
    }
    reply = held ? *std::move(held) : respond(request, model.name, script, simulator_.library());
  }

  SeenRequest seen;
  seen.connection = id_;
  seen.at = loop_.now();
  seen.method = head.method;
  seen.target = head.target;
  seen.head = raw_head;
  seen.model = asked_model;
  seen.reply = reply.what;
  seen.status = reply.status;
  Statistics& statistics = simulator_.statistics();
  const std::uint64_t seen_id = statistics.request_started(std::move(seen), body);

  const bool opens = reply.status == 101 && !script.faults.any(Fault::CloseBeforeHead, Fault::ResetBeforeHead,
                                                               Fault::StallBeforeHead, Fault::StallInHead);
  if (opens) {
    const wire::WebsocketOpening opening = wire::read_websocket_opening(head);
    co_await serve_realtime(model.name, script, wire::websocket_accept(opening.key), seen_id);
    co_return false;
  }

  const Play play = compose(std::move(reply), script, framing, loop_.wall_now());
  // From here on a FIN of the peer means that it gave up.
  stream_->watch_hangup(&cancel_);
  const Played played = co_await play_steps(*stream_, play, scope_);
  statistics.wrote(played.bytes);
  const bool aborted = !played.all_written || play.end == PlayEnd::Stall;
  if (played.all_written && play.end == PlayEnd::Stall) co_await finish(PlayEnd::Stall);
  statistics.request_ended(seen_id, aborted         ? ExchangeEnd::Aborted
                                    : play.complete ? ExchangeEnd::Complete
                                                    : ExchangeEnd::Cut);
  if (aborted) co_return false;
  stream_->watch_hangup(nullptr);
  co_return co_await finish(play.end);
}

Task<void> Connection::serve_realtime(std::string model, Script script, std::string accept,
                                      std::uint64_t seen) {
  stream_->watch_hangup(&cancel_);
  RealtimeModel speaker(std::move(model), script);
  const RealtimePlayed played = co_await play_realtime(*stream_, std::move(speaker), script,
                                                       std::move(accept), std::exchange(input_, {}), scope_);
  Statistics& statistics = simulator_.statistics();
  statistics.wrote(played.bytes);
  using End = RealtimePlayed::End;
  statistics.request_ended(seen, played.end == End::Complete ? ExchangeEnd::Complete
                                 : played.end == End::Cut    ? ExchangeEnd::Cut
                                                             : ExchangeEnd::Aborted);
  stream_->watch_hangup(nullptr);
  if (played.end == End::Complete) {
    stream_->shutdown_write();
    co_await linger();
  }
}

// True when the connection goes on.
Task<bool> Connection::finish(PlayEnd end) {
  switch (end) {
    case PlayEnd::KeepAlive: co_return true;
    case PlayEnd::Close:
      stream_->shutdown_write();
      co_await linger();
      co_return false;
    case PlayEnd::CloseOnReuse:
      // Unread bytes would make the close a reset.
      if (input_.empty()) co_await read_more();
      co_return false;
    case PlayEnd::Reset: stream_->set_reset_on_close(); co_return false;
    case PlayEnd::Stall:
      stream_->watch_hangup(&cancel_);
      static_cast<void>(co_await net::sleep(loop_, scope_));
      co_return false;
  }
  co_return false;
}

// After our FIN the rest of what the peer sends is thrown away, for a second: closing with unread bytes
// would reset the connection and could destroy the reply on its way.
Task<void> Connection::linger() {
  const net::Scope limited = scope_.until(loop_.precise_now() + std::chrono::seconds(1));
  for (;;) {
    const net::IoTry tried = stream_->try_read(loop_.scratch());
    if (tried.status == net::IoStatus::Closed || tried.status == net::IoStatus::Failed) co_return;
    if (tried.status == net::IoStatus::Done) continue;
    const net::Wake wake = co_await stream_->readable(limited);
    if (wake != net::Wake::Ready) co_return;
  }
}

}  // namespace qq::simulator
