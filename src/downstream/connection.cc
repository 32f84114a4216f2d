#include "downstream/connection.h"

#include <fmt/format.h>

#include "base/utf8_cut.h"
#include "downstream/body_intake.h"
#include "downstream/head_admission.h"
#include "downstream/realtime_session.h"
#include "downstream/refusals.h"
#include "downstream/websocket_session.h"
#include "relay/called.h"
#include "relay/client_words.h"
#include "relay/held/serve_held.h"
#include "relay/reply_head.h"
#include "relay/request.h"
#include "relay/stored_objects.h"

namespace qq::downstream {
namespace {

// What a connection made during a drain has for its request, so that it gets an answer and no mere close.
constexpr Milliseconds kFirstWords{1'000};

// For the log line.
std::string asked_of(const wire::RequestHead& head) {
  return fmt::format("{} {}", head.method.substr(0, 20), cut_utf8(head.path(), kShownMax));
}

}  // namespace

Connection::Connection(Server& server, net::Stream& stream, const ListenerConfig& listener)
    : server_(server),
      services_(server.services()),
      stream_(stream),
      listener_(listener),
      opened_(services_.loop.now()) {}

Connection::~Connection() {
  stream_.watch_hangup(nullptr);
}

void Connection::ask_to_finish() noexcept {
  finish_ = true;
  // The answer in flight says so, unless its head has been promised already.
  if (writer_ && !writer_->begun()) writer_->close_after();
  // Who has sent half a head is to hear an answer to it.
  if (idle_ && pending_.empty() && gone_ && !may_wait_for_first()) gone_->cancel(ErrorKind::ShuttingDown);
  if (websocket_) websocket_->ask_to_finish();
  if (realtime_) realtime_->ask_to_finish();
}

bool Connection::runs_request() const noexcept {
  return running_ || (websocket_ && websocket_->runs_request());
}

bool Connection::may_wait_for_first() const noexcept {
  return !served_any_ && (server_.takes_requests() || services_.loop.now() - opened_ < kFirstWords);
}

void Connection::terminate() noexcept {
  if (websocket_) websocket_->terminate();
  if (realtime_) realtime_->terminate();
  if (gone_) gone_->cancel(ErrorKind::ShuttingDown);
}

Task<void> Connection::serve() {
  // Not `while (co_await …)`: g++ 12 lays out the frame of this coroutine wrongly then.
  for (;;) {
    const bool goes_on = co_await serve_one();
    if (!goes_on) break;
    served_any_ = true;
  }
  if (writer_->broken()) co_return;
  co_await settle(stream_, last_bytes(), snapshot_->timers.client_write_stall);
  if (writer_->is_whole())
    co_await linger(server_, stream_, last_bytes(), snapshot_->limits.body_max, body_unread_);
}

Task<std::optional<std::string_view>> Connection::read_head() {
  net::EventLoop& loop = services_.loop;
  const relay::Timers& timers = snapshot_->timers;
  wire::HeadLimits limits;
  limits.head_max = snapshot_->limits.head_max;
  const MonotonicTime idle_deadline = loop.now() + (served_any_ ? timers.client_idle : timers.client_head);
  MonotonicTime head_deadline = kNever;
  std::size_t scanned = 0;
  std::string_view view = pending_;
  for (;;) {
    if (!view.empty()) {
      if (head_deadline == kNever) {
        head_started_ = loop.now();
        head_deadline = head_started_ + timers.client_head;
      }
      const wire::HeadVerdict verdict =
          wire::read_request_head(view, limits, server_.head_scratch(), scanned);
      if (verdict.kind == wire::HeadVerdict::Kind::Complete) {
        writer_->count_wait(head_started_);
        co_return view.substr(verdict.consumed);
      }
      if (verdict.kind == wire::HeadVerdict::Kind::Bad) {
        writer_->count_wait(head_started_);
        co_await refuse_head(verdict, limits);
        co_return std::nullopt;
      }
      if (view.data() != pending_.data()) pending_.assign(view);
      view = pending_;  // the scratch is anybody's once we wait
      scanned = pending_.size();
    }
    const std::span<char> scratch = loop.scratch();
    const net::IoTry got = stream_.try_read(scratch);
    if (got.status == net::IoStatus::Done) {
      services_.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
      if (pending_.empty()) {
        view = {scratch.data(), got.bytes};
      } else {
        pending_.append(scratch.data(), got.bytes);
        view = pending_;
      }
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock) co_return std::nullopt;
    if (finish_ && pending_.empty() && !may_wait_for_first()) co_return std::nullopt;
    const net::Scope waiting{head_deadline == kNever ? idle_deadline : head_deadline, &*gone_};
    const net::Wake wake = co_await stream_.readable(waiting);
    if (wake == net::Wake::Ready) continue;
    // Slow heads are closed without much ado: whoever drips bytes does not read answers.
    co_return std::nullopt;
  }
}

Task<void> Connection::refuse_head(wire::HeadVerdict verdict, wire::HeadLimits limits) {
  const Error error = malformed_head(verdict, limits);
  leave_body_unread();
  OwnRequest refused;
  refused.id = RequestId::make(services_.loop.wall_now(), services_.random);
  refused.wall_started = services_.loop.wall_now();
  refused.started = head_started_;
  refused.config_generation = snapshot_->generation;
  co_await refuse(error, refused, verdict.status);
}

OwnRequest Connection::own(Admitted& admitted) {
  relay::IncomingRequest& incoming = admitted.incoming;
  OwnRequest own;
  own.id = incoming.id;
  own.wall_started = incoming.wall_started;
  own.started = incoming.started;
  own.asked = admitted.what.empty() ? AskedPath::at(incoming.path) : admitted.asked;
  if (admitted.what.empty() && incoming.held) own.asked.dialect = model::dialect_of(incoming.endpoint);
  own.what = admitted.what.empty() ? fmt::format("POST {}", incoming.path) : std::move(admitted.what);
  own.key = incoming.key;
  own.body_bytes = incoming.body.size();
  own.config_generation = incoming.snapshot->generation;
  incoming.free_body();  // nobody will read it
  return own;
}

// Takes everything needed out of the head, which lies in the loop's scratch, as do the bytes behind it.
// `rest` is cut down to what belongs to the next request.
std::unique_ptr<Admitted> Connection::admit(std::string_view rest) {
  const wire::RequestHead& head = server_.head_scratch();
  auto admitted = std::make_unique<Admitted>();
  admitted->reader = wire::BodyReader(head.framing);
  relay::IncomingRequest& incoming = admitted->incoming;
  incoming.wall_started = services_.loop.wall_now();
  incoming.id = RequestId::make(incoming.wall_started, services_.random);
  incoming.started = head_started_;
  incoming.snapshot = snapshot_;
  writer_->reset(head.minor_version, head.keep_alive && !finish_, head.method == "HEAD");
  admitted->local = local_reply(server_, listener_, head);
  if (admitted->local) {
    admitted->local_lines = fmt::format("content-type: {}\r\n", admitted->local->content_type);
    admitted->body_unread = head.framing.kind != wire::Framing::Kind::None;
    pending_ = std::string(rest);
    return admitted;
  }
  if (finish_ && !server_.takes_requests()) {
    admitted->refusal = saturated("the gateway is shutting down; try again");
    admitted->what = asked_of(head);
    admitted->asked = AskedPath::of(head);
    admitted->body_unread = true;
    return admitted;
  }
  admitted->refusal =
      asks_for_chat_websocket(head) ? admit_upgrade(services_, listener_, finish_, head, *admitted)
      : asks_for_realtime(head)     ? admit_realtime(services_, listener_, finish_, head, *admitted)
                                    : admit_head(services_, listener_, head, *admitted);
  if (!admitted->refusal) admitted->refusal = take_first_bytes(services_, head.framing, *admitted, rest);
  if (admitted->refusal) {
    if (admitted->refusal_status != 0) writer_->close_after();
    admitted->what = asked_of(head);
    admitted->asked = AskedPath::of(head);
    // The rest of the connection cannot be trusted unless the request is complete.
    admitted->body_unread = head.framing.kind != wire::Framing::Kind::None;
    pending_ = admitted->body_unread ? std::string() : std::string(rest);
    return admitted;
  }
  admitted->wants_continue = head.expect_continue && !admitted->reader.done() && incoming.body.empty();
  if (incoming.path.empty()) {
    admitted->what = asked_of(head);
    admitted->asked = AskedPath::of(head);
    answer_models(*models_asked(head), *admitted);
  }
  pending_ = std::string(rest);
  return admitted;
}

void Connection::answer_models(const ModelsAsked& asked, Admitted& admitted) {
  admitted.body_unread = !admitted.reader.done();
  auto json = models_json(*snapshot_, *admitted.incoming.key, asked);
  if (!json) {
    admitted.refusal = Error::client(ErrorKind::NotFound,
                                     fmt::format("The model `{}` does not exist or this key may not use it",
                                                 cut_utf8(asked.name, kShownMax)),
                                     "model");
    return;
  }
  admitted.local.emplace().body = *std::move(json);
  admitted.local_lines =
      fmt::format("content-type: application/json\r\nx-request-id: {}\r\n", admitted.incoming.id.text());
}

// To count owners costs more than to look whether it is another.
void Connection::take_newest_snapshot() {
  if (snapshot_ != services_.snapshot) snapshot_ = services_.snapshot;
}

Task<bool> Connection::serve_one() {
  take_newest_snapshot();
  gone_.emplace(services_.loop);
  writer_.emplace(stream_, *gone_, services_.counters, snapshot_->timers.client_write_stall);
  idle_ = true;
  head_started_ = {};
  const std::optional<std::string_view> rest = co_await read_head();
  if (!rest) co_return false;
  idle_ = false;
  take_newest_snapshot();  // it may have waited long
  std::unique_ptr<Admitted> admitted = admit(*rest);
  if (admitted->upgrade && !admitted->refusal) {
    websocket_ =
        std::make_unique<WebsocketSession>(server_, stream_, *writer_, *std::move(admitted->upgrade));
    admitted.reset();
    std::string received = std::exchange(pending_, {});
    snapshot_.reset();  // each of its requests takes the newest
    co_await websocket_->serve(std::move(received));
    websocket_.reset();
    snapshot_ = services_.snapshot;
    writer_->abort();  // nothing is left to be said
    co_return false;
  }
  if (admitted->incoming.realtime && !admitted->refusal)
    co_return co_await serve_realtime(std::move(admitted));
  running_ = !admitted->refusal && !admitted->local;
  if (running_ && !admitted->reader.done()) {
    Task<void> reading = read_body({services_, stream_, *writer_, pending_}, *admitted);
    co_await std::move(reading);
  }
  if (admitted->refusal || admitted->local) {
    running_ = false;
    co_await answer_here(*admitted);
    co_return writer_->reusable();
  }
  // From here on a FIN or reset means that nobody waits for the answer.
  stream_.watch_hangup(&*gone_, ErrorKind::ClientGone);
  relay::IncomingRequest& incoming = admitted->incoming;
  Task<void> relaying = incoming.stored ? relay::serve_stored(services_, std::move(incoming), *writer_)
                        : incoming.held ? relay::serve_held(services_, std::move(incoming), *writer_)
                                        : relay::relay_request(services_, std::move(incoming), *writer_);
  admitted.reset();
  co_await std::move(relaying);
  stream_.watch_hangup(nullptr);
  running_ = false;
  co_return writer_->reusable() && !gone_->cancelled();
}

Task<bool> Connection::serve_realtime(std::unique_ptr<Admitted> admitted) {
  running_ = true;
  realtime_ = std::make_unique<RealtimeSession>(
      server_, stream_, *writer_, std::move(admitted->realtime_lines), std::exchange(pending_, {}));
  Task<void> serving = realtime_->serve(std::move(admitted->incoming));
  admitted.reset();
  co_await std::move(serving);
  running_ = false;
  const bool accepted = realtime_->accepted();
  // Of who was refused, perhaps another request.
  pending_ = realtime_->take_received();
  realtime_.reset();
  if (accepted) writer_->abort();  // nothing is left to be said
  co_return !accepted && writer_->reusable() && !gone_->cancelled();
}

void Connection::leave_body_unread() noexcept {
  writer_->close_after();
  body_unread_ = BodyUnread::Yes;
}

// What is answered without the relay: health, metrics, the list of models, and refusals.
Task<void> Connection::answer_here(Admitted& admitted) {
  if (admitted.refusal) {
    OwnRequest refused = own(admitted);
    if (admitted.refusal->kind == ErrorKind::ClientGone) {
      record_own(services_, *writer_, refused, 0, &*admitted.refusal);  // an upload that was given up
      writer_->abort();
      co_return;
    }
    if (admitted.body_unread) leave_body_unread();
    co_await refuse(*admitted.refusal, refused, admitted.refusal_status);
    co_return;
  }
  LocalReply& local = *admitted.local;
  if (admitted.body_unread) leave_body_unread();
  co_await send_local(local.status, std::move(admitted.local_lines), std::move(local.body));
  if (!admitted.what.empty()) record_own(services_, *writer_, own(admitted), local.status, nullptr);
}

Task<void> Connection::refuse(const Error& error, const OwnRequest& refused, int instead) {
  const model::Dialect dialect = refused.asked.dialect;
  auto encoded = relay::encode_error(dialect, error, refused.id.text());
  if (instead != 0) encoded.status = instead;
  std::string lines = relay::error_header_lines(dialect, refused.id.text(), {}, {}, error);
  if (encoded.status == 401) lines.append("www-authenticate: Bearer\r\n");
  if (encoded.status == 426) lines.append("upgrade: websocket\r\nsec-websocket-version: 13\r\n");
  if (encoded.status == 405) {
    lines.append("allow: ").append(refused.asked.allowed).append("\r\n");
  }
  const int status = encoded.status;
  co_await send_local(status, std::move(lines), std::move(encoded.body));
  record_own(services_, *writer_, refused, status, &error);
}

Task<void> Connection::send_local(int status, std::string header_lines, std::string body) {
  const std::string_view piece = body;
  if (writer_->reply(status, header_lines, {&piece, 1}) == relay::ClientPort::Taken::Pending) {
    co_await writer_->flush(last_bytes());
  }
}

net::Scope Connection::last_bytes() noexcept {
  return {services_.loop.now() + snapshot_->timers.total, &server_.cut()};
}

}  // namespace qq::downstream
