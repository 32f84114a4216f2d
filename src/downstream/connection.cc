#include "downstream/connection.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/frame_pool.h"
#include "downstream/body_pace.h"
#include "downstream/local_endpoints.h"
#include "downstream/refusals.h"
#include "downstream/websocket_session.h"
#include "relay/admit.h"
#include "relay/called.h"
#include "relay/client_words.h"
#include "relay/reply_head.h"
#include "relay/request.h"
#include "relay/stored_objects.h"

namespace qq::downstream {
namespace {

// What a connection made during a drain has for its request, so that it gets an answer and no mere close.
constexpr Milliseconds kFirstWords{1'000};

// For the log line.
std::string asked_of(const wire::RequestHead& head) {
  return fmt::format("{} {}", head.method.substr(0, 20), head.path().substr(0, 200));
}

}  // namespace

// What the log line of a request needs that never came to the relay.
struct Connection::Own {
  RequestId id;
  WallTime wall_started{};
  std::string what;  // "GET /nowhere"; empty if the head was no HTTP
  const admission::KeyEntry* key = nullptr;
  std::size_t body_bytes = 0;
};

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
}

bool Connection::runs_request() const noexcept {
  return running_ || (websocket_ && websocket_->runs_request());
}

bool Connection::may_wait_for_first() const noexcept {
  return !served_any_ && (server_.takes_requests() || services_.loop.now() - opened_ < kFirstWords);
}

void Connection::terminate() noexcept {
  if (websocket_) websocket_->terminate();
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
  bad_head_status_ = static_cast<std::uint16_t>(verdict.status);
  leave_body_unread();
  Own refused;
  refused.id = RequestId::make(services_.loop.wall_now(), services_.random);
  refused.wall_started = services_.loop.wall_now();
  co_await refuse(error, refused);
}

// A request's head as far as it is needed after the first suspension. On the heap and gone before the request
// is relayed: an idle stream keeps none of it.
struct Connection::Admitted {
  // It lives beside the frames of the request, and as long.
  static void* operator new(std::size_t size) { return detail::FramePool::allocate(size); }
  static void operator delete(void* admitted, std::size_t size) noexcept {
    detail::FramePool::release(admitted, size);
  }

  relay::IncomingRequest incoming;
  wire::BodyReader reader;
  std::size_t announced = 0;  // the body's length; 0 if it is not known
  bool wants_continue = false;
  // Answered at once, without a provider: with a local answer or an error.
  std::optional<LocalReply> local{};
  std::string local_lines{};
  std::optional<Error> refusal{};
  std::unique_ptr<WebsocketUpgrade> upgrade{};
  std::string what{};  // "GET /nowhere", of what is refused or has a log line of its own
  bool body_unread = false;
};

// What the body costs: also the room that was made for what has yet to come.
std::size_t Connection::bytes_held(const Admitted& admitted) noexcept {
  const std::string& body = admitted.incoming.body;
  return body.empty() ? 0 : std::max(body.size(), std::min(admitted.announced, body.capacity()));
}

Connection::Own Connection::own(Admitted& admitted) {
  relay::IncomingRequest& incoming = admitted.incoming;
  Own own;
  own.id = incoming.id;
  own.wall_started = incoming.wall_started;
  own.what = admitted.what.empty() ? fmt::format("POST {}", incoming.path) : std::move(admitted.what);
  own.key = incoming.key;
  own.body_bytes = incoming.body.size();
  incoming.free_body();  // nobody will read it
  return own;
}

// Takes everything needed out of the head, which lies in the loop's scratch, as do the bytes behind it.
// `rest` is cut down to what belongs to the next request.
std::unique_ptr<Connection::Admitted> Connection::admit(std::string_view rest) {
  const wire::RequestHead& head = server_.head_scratch();
  auto admitted = std::make_unique<Admitted>();
  admitted->reader = wire::BodyReader(head.framing);
  relay::IncomingRequest& incoming = admitted->incoming;
  incoming.id = RequestId::make(services_.loop.wall_now(), services_.random);
  incoming.wall_started = services_.loop.wall_now();
  incoming.started = head_started_;
  incoming.snapshot = snapshot_;
  writer_->reset(head.minor_version, head.keep_alive && !finish_, head.method == "HEAD");
  admitted->local = local_reply(head);
  if (admitted->local) {
    admitted->local_lines = fmt::format("content-type: {}\r\n", admitted->local->content_type);
    admitted->body_unread = head.framing.kind != wire::Framing::Kind::None;
    pending_ = std::string(rest);
    return admitted;
  }
  if (finish_ && !server_.takes_requests()) {
    admitted->refusal = saturated("the gateway is shutting down; try again");
    admitted->what = asked_of(head);
    admitted->body_unread = true;
    return admitted;
  }
  admitted->refusal =
      asks_for_chat_websocket(head) ? admit_upgrade(head, *admitted) : admit_head(head, incoming);
  if (!admitted->refusal) admitted->refusal = take_first_bytes(*admitted, head.framing, rest);
  if (admitted->refusal) {
    admitted->what = asked_of(head);
    // The rest of the connection cannot be trusted unless the request is complete.
    admitted->body_unread = head.framing.kind != wire::Framing::Kind::None;
    pending_ = admitted->body_unread ? std::string() : std::string(rest);
    return admitted;
  }
  admitted->wants_continue = head.expect_continue && !admitted->reader.done() && incoming.body.empty();
  if (incoming.path.empty()) {
    admitted->what = asked_of(head);
    answer_models(*models_asked(head), *admitted);
  }
  pending_ = std::string(rest);
  return admitted;
}

// Small local answers, which need no key.
std::optional<LocalReply> Connection::local_reply(const wire::RequestHead& head) {
  if (head.method != "GET" && head.method != "HEAD") return std::nullopt;
  const std::string_view path = head.path();
  LocalReply local;
  if (path == "/healthz") {
    local.body = R"({"alive":true})";
  } else if (path == "/readyz") {
    local = readiness(services_);
    server_.note_readiness_asked();
  } else if (path == "/metrics" && (listener_.serve_metrics || listener_.serve_admin)) {
    local.content_type = "text/plain; version=0.0.4; charset=utf-8";
    local.body = server_.shared().render_metrics();
  } else {
    return std::nullopt;
  }
  return local;
}

// Who asks, for what, and is there room? For the list of models `incoming.path` stays empty.
std::optional<Error> Connection::admit_head(const wire::RequestHead& head, relay::IncomingRequest& incoming) {
  const std::string_view path = head.path();
  auto called = relay::endpoint_called(head);
  auto stored = called ? std::nullopt : relay::stored_call(head);
  const bool is_stored = stored || (!called && !relay::stored_methods(path).empty());
  const bool is_models = !called && models_asked(head);
  if (!listener_.serve_api || (!called && !is_models && !is_stored)) {
    const std::string_view where =
        listener_.serve_api ? "the API is under /v1/ and /v1beta/" : "this listener does not serve the API";
    return Error::client(ErrorKind::NotFound, fmt::format("no such path here: {} {}; {}", head.method,
                                                          path.substr(0, 200), where));
  }
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (is_stored ? !stored : (called ? head.method != "POST" : !reads)) {
    return Error::client(ErrorKind::MethodNotAllowed,
                         fmt::format("{} is not allowed here; use {}", head.method.substr(0, 20),
                                     is_stored ? allowed_methods(path) : (called ? "POST" : "GET")));
  }
  auto key = relay::authenticate(*snapshot_, head);
  if (!key) return std::move(key).error();
  incoming.key = &key->get();
  if (is_models) return std::nullopt;
  if (const auto coding = head.fields.find("content-encoding");
      coding && !wire::iequals(*coding, "identity")) {
    return Error::client(ErrorKind::InvalidRequest,
                         "compressed request bodies are not accepted; send it uncompressed");
  }
  const std::size_t body_max = snapshot_->limits.body_max;
  const bool has_length = head.framing.kind == wire::Framing::Kind::Length;
  if (has_length && head.framing.length > body_max) return too_large(body_max);
  const int step = services_.process.memory_step.load(std::memory_order_relaxed);
  if (step >= 2 || (step == 1 && (!has_length || head.framing.length > kLargeBody))) {
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
  incoming.endpoint = called->endpoint;
  incoming.path = called->path;
  incoming.native = std::move(called->native);
  incoming.header_lines = relay::forwarded_header_lines(head.fields, model::dialect_of(called->endpoint));
  return std::nullopt;
}

// Chat over WebSocket: who asks, and can it be?
std::optional<Error> Connection::admit_upgrade(const wire::RequestHead& head, Admitted& admitted) {
  if (!listener_.serve_api) {
    return Error::client(ErrorKind::NotFound, "no such path here: this listener does not serve the API");
  }
  const auto presented = relay::presented_key(head);
  if (!presented) return presented.error();
  auto key = relay::known_key(*snapshot_, *presented);
  if (!key) return std::move(key).error();
  admitted.incoming.key = &key->get();
  admitted.incoming.path = kWebsocketPath;
  if (finish_) return saturated("the gateway is shutting down; try again");
  if (services_.process.memory_step.load(std::memory_order_relaxed) >= 2) return short_of_memory();
  auto upgraded = read_upgrade(head, *presented, admitted.incoming.id.text());
  if (!upgraded) {
    bad_head_status_ = static_cast<std::uint16_t>(upgraded.error().status);
    writer_->close_after();
    return Error::client(ErrorKind::InvalidRequest, upgraded.error().reason);
  }
  admitted.upgrade = std::make_unique<WebsocketUpgrade>(*std::move(upgraded));
  return std::nullopt;
}

// The part of the body that came with the head.
std::optional<Error> Connection::take_first_bytes(Admitted& admitted, const wire::Framing& framing,
                                                  std::string_view& rest) {
  std::string& body = admitted.incoming.body;
  const std::size_t body_max = snapshot_->limits.body_max;
  const std::size_t announced = framing.kind == wire::Framing::Kind::Length ? framing.length : 0;
  admitted.announced = announced;
  // An announced length is only reserved as bytes come: a stranger's word must not cost memory.
  if (announced > 0 && !rest.empty()) {
    const std::size_t come = std::min(announced, rest.size());
    body = services_.spare_bodies.take(come);
    body.reserve(come);
  }
  while (!rest.empty() && !admitted.reader.done()) {
    const auto step = admitted.reader.feed(rest);
    if (step.error != nullptr) return malformed_body(step.error);
    // Also by what a chunk only announces: nobody need wait for it.
    if (body.size() + step.payload.size() + admitted.reader.announced_bytes() > body_max)
      return too_large(body_max);
    body.append(step.payload);
    rest.remove_prefix(step.consumed);
  }
  if (!admitted.incoming.budget.grow_to(services_, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

void Connection::answer_models(const ModelsAsked& asked, Admitted& admitted) {
  admitted.body_unread = !admitted.reader.done();
  auto json = models_json(*snapshot_, *admitted.incoming.key, asked);
  if (!json) {
    admitted.refusal = Error::client(
        ErrorKind::NotFound,
        fmt::format("The model `{}` does not exist or this key may not use it", asked.name.substr(0, 200)),
        "model");
    return;
  }
  admitted.local.emplace().body = *std::move(json);
  admitted.local_lines =
      fmt::format("content-type: application/json\r\nx-request-id: {}\r\n", admitted.incoming.id.text());
}

// Reads more of a body of known length to where it belongs. Its buffer grows as bytes come and never beyond
// what was announced, so that nothing of the next request is read.
net::IoTry Connection::read_in_place(net::Stream& stream, Admitted& admitted) {
  std::string& body = admitted.incoming.body;
  if (body.capacity() < std::min(admitted.announced, relay::SpareBodies::kSizeMax)) {
    if (!stream.maybe_readable()) return {};  // nothing to make room for yet
    std::string larger = services_.spare_bodies.take(admitted.announced);
    larger.append(body);
    services_.spare_bodies.give_back(std::exchange(body, std::move(larger)));
  }
  const std::size_t have = body.size();
  if (have == body.capacity()) body.reserve(std::min(admitted.announced, 2 * have));
  const std::size_t most = std::min(admitted.announced, body.capacity()) - have;
  net::IoTry got;
  body.resize_and_overwrite(have + most, [&](char* bytes, std::size_t /*size*/) {
    got = stream.try_read({bytes + have, most});
    return have + (got.status == net::IoStatus::Done ? got.bytes : 0);
  });
  return got;
}

// The newest bytes of a body that was read in place.
std::optional<Error> Connection::count_bytes(Admitted& admitted, std::size_t newest) {
  const std::string_view body = admitted.incoming.body;
  const auto step = admitted.reader.feed(body.substr(body.size() - newest));
  QQ_ASSERT(step.error == nullptr && step.consumed == newest);
  if (!admitted.incoming.budget.grow_to(services_, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

// Reads the rest of the body; what goes wrong is left as the refusal.
Task<void> Connection::read_body(Admitted& admitted) {
  if (admitted.wants_continue) {
    auto taken = writer_->send_continue();
    if (taken == relay::ClientPort::Taken::Pending) {
      const net::Scope scope{kNever, &*gone_};
      Result<> flushed = co_await writer_->flush(scope);
      if (!flushed) taken = relay::ClientPort::Taken::Gone;
    }
    if (taken == relay::ClientPort::Taken::Gone) {
      admitted.refusal = client_left_inside();
      co_return;
    }
  }
  const MonotonicTime started = services_.loop.now();
  while (!admitted.reader.done()) {
    const std::span<char> scratch = services_.loop.scratch();
    const net::IoTry got =
        admitted.announced > 0 ? read_in_place(stream_, admitted) : stream_.try_read(scratch);
    if (got.status == net::IoStatus::WouldBlock) {
      const net::Scope waiting{body_deadline(snapshot_->timers, started, admitted.incoming.body.size()),
                               &*gone_};
      const MonotonicTime from = services_.loop.precise_now();
      const net::Wake wake = co_await stream_.readable(waiting);
      writer_->count_wait(from);
      if (wake != net::Wake::Ready) {
        admitted.refusal = body_not_awaited(wake);
        admitted.body_unread = true;
        co_return;
      }
      continue;
    }
    if (got.status != net::IoStatus::Done) {
      admitted.refusal = client_left_inside();
      co_return;
    }
    services_.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
    admitted.refusal = admitted.announced > 0 ? count_bytes(admitted, got.bytes)
                                              : take_bytes(admitted, {scratch.data(), got.bytes});
    if (admitted.refusal) {
      admitted.body_unread = true;
      co_return;
    }
  }
}

Error Connection::body_not_awaited(net::Wake wake) const {
  return wake == net::Wake::Deadline
             ? too_slow()
             : Error::gateway(gone_->reason(), "the gateway is shutting down; try again");
}

std::optional<Error> Connection::take_bytes(Admitted& admitted, std::string_view bytes) {
  std::string& body = admitted.incoming.body;
  const std::size_t max = snapshot_->limits.body_max;
  while (!bytes.empty() && !admitted.reader.done()) {
    const auto step = admitted.reader.feed(bytes);
    if (step.error != nullptr) return malformed_body(step.error);
    if (body.size() + step.payload.size() + admitted.reader.announced_bytes() > max) return too_large(max);
    body.append(step.payload);
    bytes.remove_prefix(step.consumed);
  }
  pending_.assign(bytes);  // of the next, pipelined request
  if (!admitted.incoming.budget.grow_to(services_, bytes_held(admitted))) return too_many_bodies();
  return std::nullopt;
}

Task<bool> Connection::serve_one() {
  snapshot_ = services_.snapshot;
  gone_.emplace(services_.loop);
  writer_.emplace(stream_, *gone_, services_.counters, snapshot_->timers.client_write_stall);
  idle_ = true;
  head_started_ = {};
  const std::optional<std::string_view> rest = co_await read_head();
  if (!rest) co_return false;
  idle_ = false;
  snapshot_ = services_.snapshot;  // it may have waited long: the request starts with the newest
  std::unique_ptr<Admitted> admitted = admit(*rest);
  if (admitted->upgrade && !admitted->refusal) {
    websocket_ =
        std::make_unique<WebsocketSession>(server_, stream_, *writer_, *std::move(admitted->upgrade));
    admitted.reset();
    std::string received = std::exchange(pending_, {});
    co_await websocket_->serve(std::move(received));
    websocket_.reset();
    writer_->abort();  // nothing is left to be said
    co_return false;
  }
  running_ = !admitted->refusal && !admitted->local;
  if (running_ && !admitted->reader.done()) co_await read_body(*admitted);
  if (admitted->refusal || admitted->local) {
    running_ = false;
    co_await answer_here(*admitted);
    co_return writer_->reusable();
  }
  // From here on a FIN or reset means that nobody waits for the answer.
  stream_.watch_hangup(&*gone_, ErrorKind::ClientGone);
  Task<void> relaying = admitted->incoming.stored
                            ? relay::serve_stored(services_, std::move(admitted->incoming), *writer_)
                            : relay::relay_request(services_, std::move(admitted->incoming), *writer_);
  admitted.reset();
  co_await std::move(relaying);
  stream_.watch_hangup(nullptr);
  running_ = false;
  co_return writer_->reusable() && !gone_->cancelled();
}

void Connection::leave_body_unread() noexcept {
  writer_->close_after();
  body_unread_ = BodyUnread::Yes;
}

// What is answered without the relay: health, metrics, the list of models, and refusals.
Task<void> Connection::answer_here(Admitted& admitted) {
  if (admitted.refusal) {
    Own refused = own(admitted);
    if (admitted.refusal->kind == ErrorKind::ClientGone) {
      record(refused, 0, &*admitted.refusal);  // an upload that was given up
      writer_->abort();
      co_return;
    }
    if (admitted.body_unread) leave_body_unread();
    co_await refuse(*admitted.refusal, refused);
    co_return;
  }
  LocalReply& local = *admitted.local;
  if (admitted.body_unread) leave_body_unread();
  co_await send_local(local.status, std::move(admitted.local_lines), std::move(local.body));
  if (!admitted.what.empty()) record(own(admitted), local.status, nullptr);
}

Task<void> Connection::refuse(const Error& error, const Own& refused) {
  const std::string_view asked = std::string_view(refused.what).substr(refused.what.find(' ') + 1);
  const model::Dialect dialect = relay::dialect_of_path(asked);
  auto encoded = relay::encode_error(dialect, error, refused.id.text());
  if (bad_head_status_ != 0) encoded.status = bad_head_status_;
  std::string lines = relay::error_header_lines(dialect, refused.id.text(), {}, {}, error);
  if (encoded.status == 401) lines.append("www-authenticate: Bearer\r\n");
  if (encoded.status == 426) lines.append("upgrade: websocket\r\nsec-websocket-version: 13\r\n");
  if (encoded.status == 405) {
    lines.append("allow: ").append(allowed_methods(asked)).append("\r\n");
  }
  const int status = encoded.status;
  co_await send_local(status, std::move(lines), std::move(encoded.body));
  record(refused, status, &error);
}

void Connection::record(const Own& own, int status, const Error* error) {
  relay::RequestRecord record;
  record.request_id = own.id.text();
  record.method = std::string_view(own.what).substr(0, own.what.find(' '));
  if (own.what.size() > record.method.size())
    record.path = std::string_view(own.what).substr(record.method.size() + 1);
  if (own.key != nullptr) {
    record.key_name = own.key->name;
    record.owner = own.key->owner;
  }
  if (error != nullptr) record.error = *error;
  record.status = status;
  record.wall_started = own.wall_started;
  record.started = head_started_ == MonotonicTime{} ? services_.loop.now() : head_started_;
  record.ended = services_.loop.precise_now();
  record.bytes_from_client = own.body_bytes;
  record.client_wait = writer_->client_wait();
  record.bytes_to_client = writer_->bytes_written();
  record.config_generation = snapshot_->generation;
  services_.observer.request_ended(record);
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
