#include "downstream/connection.h"

#include <fmt/format.h>

#include "dialects/openai/errors.h"
#include "downstream/local_endpoints.h"
#include "relay/admit.h"
#include "relay/reply_head.h"
#include "relay/request.h"

namespace qq::downstream {
namespace {

// Bodies must come at this rate once their grace is over.
constexpr std::int64_t kBodyBytesPerSecondMin = 1024;
// From the 80 % step of memory on, larger bodies are refused.
constexpr std::size_t kLargeBody = 1U << 20U;
// How long and how much is read from a client that still sends, before its connection is closed.
constexpr Milliseconds kLinger{1'000};
constexpr std::size_t kLingerBytesMax = 256 * 1024;

// The memory of one request's body, counted for the process while it lives.
class BodyBudget {
 public:
  explicit BodyBudget(relay::LoopServices& services) noexcept : services_(services) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;
  ~BodyBudget() { grow_to(0); }

  // False if the process's limit forbids it; shrinking always works.
  bool grow_to(std::size_t bytes) noexcept {
    const auto delta = static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(bytes_);
    if (delta == 0) return true;
    auto& total = services_.process.bodies_in_flight_bytes;
    const std::int64_t now = total.fetch_add(delta, std::memory_order_relaxed) + delta;
    if (delta > 0 && now > static_cast<std::int64_t>(services_.snapshot->limits.bodies_in_flight_max)) {
      total.fetch_sub(delta, std::memory_order_relaxed);
      return false;
    }
    services_.counters.bodies_in_flight_bytes.add(delta);
    bytes_ = bytes;
    return true;
  }

 private:
  relay::LoopServices& services_;
  std::size_t bytes_ = 0;
};

Error too_large(std::size_t max) {
  return Error::client(ErrorKind::PayloadTooLarge,
                       fmt::format("the request body is larger than this gateway takes ({} bytes); send less", max));
}

Error saturated(std::string text) {
  Error error = Error::gateway(ErrorKind::Saturated, std::move(text));
  error.retry_after = Milliseconds{1'000};
  return error;
}

Error too_slow() {
  return Error::client(ErrorKind::RequestTimeout, "the request body came too slowly; send at least 1 KiB a second");
}

std::string_view path_of(model::Endpoint endpoint) noexcept {
  switch (endpoint) {
    case model::Endpoint::ChatCompletions: return "/v1/chat/completions";
    case model::Endpoint::Responses: return "/v1/responses";
    case model::Endpoint::Completions: return "/v1/completions";
    case model::Endpoint::Embeddings: return "/v1/embeddings";
    case model::Endpoint::Moderations: return "/v1/moderations";
    case model::Endpoint::ImagesGenerations: return "/v1/images/generations";
  }
  return "";
}

}  // namespace

Connection::Connection(Server& server, net::Stream& stream, const ListenerConfig& listener)
    : server_(server), services_(server.services()), stream_(stream), listener_(listener) {}

Connection::~Connection() { stream_.watch_hangup(nullptr); }

void Connection::ask_to_finish() noexcept {
  if (finish_) return;
  finish_ = true;
  if (idle_ && gone_) gone_->cancel(ErrorKind::ShuttingDown);
}

void Connection::terminate() noexcept {
  if (gone_) gone_->cancel(ErrorKind::ShuttingDown);
}

Task<void> Connection::serve() {
  while (co_await serve_one()) served_any_ = true;
  if (hold_close_) co_await linger();
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
      const wire::HeadVerdict verdict = wire::read_request_head(view, limits, server_.head_scratch(), scanned);
      if (verdict.kind == wire::HeadVerdict::Kind::Complete) co_return view.substr(verdict.consumed);
      if (verdict.kind == wire::HeadVerdict::Kind::Bad) {
        Error error = Error::client(ErrorKind::InvalidRequest, fmt::format("malformed HTTP request: {}", verdict.reason));
        bad_head_status_ = verdict.status;
        co_await refuse(error, true);
        co_return std::nullopt;
      }
      if (view.data() != pending_.data()) pending_.assign(view);
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
    if (finish_ && pending_.empty()) co_return std::nullopt;
    const net::Scope waiting{std::min(idle_deadline, head_deadline), &*gone_};
    const net::Wake wake = co_await stream_.readable(waiting);
    if (wake == net::Wake::Ready) continue;
    if (wake == net::Wake::Deadline && !pending_.empty()) {
      // Slow heads are closed without much ado: whoever drips bytes does not read answers.
      hold_close_ = false;
    }
    co_return std::nullopt;
  }
}

Task<Result<>> Connection::read_body(wire::BodyReader& reader, std::string& body) {
  net::EventLoop& loop = services_.loop;
  const relay::Timers& timers = snapshot_->timers;
  const std::size_t max = snapshot_->limits.body_max;
  const MonotonicTime started = loop.now();
  while (!reader.done()) {
    const std::span<char> scratch = loop.scratch();
    const net::IoTry got = stream_.try_read(scratch);
    if (got.status == net::IoStatus::WouldBlock) {
      const auto earned = std::chrono::seconds(static_cast<std::int64_t>(body.size()) / kBodyBytesPerSecondMin);
      const net::Scope waiting{started + timers.client_body_grace + earned, &*gone_};
      const net::Wake wake = co_await stream_.readable(waiting);
      if (wake == net::Wake::Ready) continue;
      if (wake == net::Wake::Deadline) co_return fail(too_slow());
      co_return fail(Error::client(gone_->reason(), "the connection is being closed"));
    }
    if (got.status != net::IoStatus::Done) {
      co_return fail(Error::client(ErrorKind::ClientGone, "the client closed the connection inside its request"));
    }
    services_.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
    std::string_view bytes{scratch.data(), got.bytes};
    while (!bytes.empty() && !reader.done()) {
      const auto step = reader.feed(bytes);
      if (step.error != nullptr) {
        co_return fail(Error::client(ErrorKind::InvalidRequest, fmt::format("malformed request body: {}", step.error)));
      }
      if (body.size() + step.payload.size() > max) co_return fail(too_large(max));
      body.append(step.payload);
      bytes.remove_prefix(step.consumed);
    }
    pending_.assign(bytes);  // of the next, pipelined request
  }
  co_return Result<>();
}

Task<bool> Connection::serve_one() {
  snapshot_ = services_.snapshot;
  gone_.emplace(services_.loop);
  writer_.emplace(stream_, *gone_, services_.counters, snapshot_->timers.client_write_stall);
  idle_ = true;
  head_started_ = {};
  const std::optional<std::string_view> rest_or_end = co_await read_head();
  if (!rest_or_end) co_return false;
  idle_ = false;
  std::string_view rest = *rest_or_end;
  snapshot_ = services_.snapshot;  // it may have waited long: the request starts with the newest
  if (finish_ && !server_.takes_requests()) {
    co_await refuse(saturated("the gateway is shutting down; try again"), true);
    co_return false;
  }

  // No suspension from here until everything needed of the head is taken out of the scratch.
  const wire::RequestHead& head = server_.head_scratch();
  writer_->reset(head.minor_version, head.keep_alive && !finish_);
  relay::IncomingRequest incoming;
  incoming.id = RequestId::make(services_.loop.wall_now(), services_.random);
  incoming.wall_started = services_.loop.wall_now();
  incoming.started = head_started_;
  incoming.snapshot = snapshot_;
  const std::string_view path = head.path();
  const bool is_get = head.method == "GET";

  // Small local answers first: they need no key.
  if (is_get && (path == "/healthz" || path == "/readyz" || (path == "/metrics" && listener_.serve_metrics))) {
    LocalReply local;
    if (path == "/healthz") {
      local.body = R"({"alive":true})";
    } else if (path == "/readyz") {
      local = readiness(services_);
    } else {
      local.content_type = "text/plain; version=0.0.4; charset=utf-8";
      local.body = server_.shared().render_metrics();
    }
    const bool has_body = head.framing.kind != wire::Framing::Kind::None;
    if (has_body) writer_->close_after();
    hold_close_ = hold_close_ || has_body;
    pending_ = std::string(rest);
    co_await send_local(local.status, fmt::format("content-type: {}\r\n", local.content_type), std::move(local.body));
    co_return writer_->reusable();
  }

  std::optional<Error> refusal;
  const auto endpoint = relay::endpoint_of(path);
  const bool is_models = path == "/v1/models" || path.starts_with("/v1/models/");
  const std::size_t body_max = snapshot_->limits.body_max;
  if (!listener_.serve_api || (!endpoint && !is_models)) {
    refusal = Error::client(ErrorKind::NotFound,
                            fmt::format("no such path: {} {}; the API is under /v1/", head.method, path.substr(0, 200)));
  } else if (endpoint ? head.method != "POST" : !is_get) {
    refusal = Error::client(ErrorKind::MethodNotAllowed,
                            fmt::format("{} is not allowed here; use {}", head.method, endpoint ? "POST" : "GET"));
  } else if (auto key = relay::authenticate(*snapshot_, head.fields); !key) {
    refusal = std::move(key).error();
  } else if (is_models) {
    incoming.key = *key;
  } else if (const auto coding = head.fields.find("content-encoding"); coding && !wire::iequals(*coding, "identity")) {
    refusal = Error::client(ErrorKind::InvalidRequest, "compressed request bodies are not accepted; send it uncompressed");
  } else if (head.framing.kind == wire::Framing::Kind::Length && head.framing.length > body_max) {
    refusal = too_large(body_max);
  } else if (const int step = services_.process.memory_step.load(std::memory_order_relaxed);
             step >= 2 || (step == 1 && (head.framing.kind != wire::Framing::Kind::Length ||
                                         head.framing.length > kLargeBody))) {
    refusal = saturated("the gateway is short of memory; try again shortly");
  } else {
    incoming.key = *key;
    incoming.endpoint = *endpoint;
    incoming.path = path_of(*endpoint);
    incoming.header_lines = relay::forwarded_header_lines(head.fields);
  }

  wire::BodyReader reader(head.framing);
  BodyBudget budget(services_);
  std::string& body = incoming.body;
  const std::size_t announced = head.framing.kind == wire::Framing::Kind::Length ? head.framing.length : 0;
  // An announced length is only reserved as bytes come: a stranger's word must not cost memory.
  if (!refusal && announced > 0) body.reserve(std::min<std::size_t>(announced, std::max<std::size_t>(rest.size(), 64 * 1024)));
  while (!refusal && !rest.empty() && !reader.done()) {
    const auto step = reader.feed(rest);
    if (step.error != nullptr) {
      refusal = Error::client(ErrorKind::InvalidRequest, fmt::format("malformed request body: {}", step.error));
      break;
    }
    if (body.size() + step.payload.size() > body_max) {
      refusal = too_large(body_max);
      break;
    }
    body.append(step.payload);
    rest.remove_prefix(step.consumed);
  }
  if (!refusal && !budget.grow_to(std::max(announced, body.size()))) {
    refusal = saturated("too many large requests are in flight; try again shortly");
  }
  if (refusal) {
    refused_what_ = fmt::format("{} {}", head.method.substr(0, 20), path.substr(0, 200));
    // The rest of the connection cannot be trusted unless the request is complete.
    const bool complete = head.framing.kind == wire::Framing::Kind::None;
    std::string carried = complete ? std::string(rest) : std::string();
    pending_ = std::move(carried);
    co_await refuse(*refusal, !complete);
    co_return writer_->reusable();
  }
  if (is_models) {
    const auto name = path.size() > 11 ? percent_decoded(path.substr(11)) : std::optional<std::string>(std::string());
    const bool has_body = !reader.done();
    if (has_body) {
      writer_->close_after();
      hold_close_ = true;
    }
    pending_ = std::string(rest);
    std::optional<std::string> json;
    if (path == "/v1/models") {
      json = models_json(*snapshot_, incoming.key);
    } else if (name) {
      json = model_json(*snapshot_, incoming.key, *name);
    }
    if (!json) {
      const Error unknown = Error::client(
          ErrorKind::NotFound, fmt::format("The model `{}` does not exist or this key may not use it",
                                           name.value_or("").substr(0, 200)), "model");
      co_await refuse(unknown, has_body);
      co_return writer_->reusable();
    }
    co_await send_local(200, fmt::format("content-type: application/json\r\nx-request-id: {}\r\n", incoming.id.text()),
                        *std::move(json));
    co_return writer_->reusable();
  }

  const bool wants_continue = head.expect_continue && !reader.done() && body.empty();
  pending_ = std::string(rest);
  if (!reader.done()) {
    if (wants_continue && writer_->send_continue() == relay::ClientPort::Taken::Gone) co_return false;
    Result<> read = co_await read_body(reader, body);
    if (!read) {
      if (read.error().kind != ErrorKind::ClientGone) co_await refuse(read.error(), true);
      co_return false;
    }
    if (!budget.grow_to(body.size())) {
      co_await refuse(saturated("too many large requests are in flight; try again shortly"), false);
      co_return writer_->reusable();
    }
  }
  // From here on a FIN or reset means that nobody waits for the answer.
  stream_.watch_hangup(&*gone_, ErrorKind::ClientGone);
  co_await relay::relay_request(services_, std::move(incoming), *writer_);
  stream_.watch_hangup(nullptr);
  co_return writer_->reusable() && !gone_->cancelled();
}

Task<void> Connection::refuse(const Error& error, bool body_unread) {
  if (body_unread) {
    writer_->close_after();
    hold_close_ = true;
  }
  const RequestId id = RequestId::make(services_.loop.wall_now(), services_.random);
  auto encoded = dialects::openai::encode_error(error, id.text());
  if (bad_head_status_ != 0) encoded.status = bad_head_status_;
  relay::RequestRecord record;
  record.request_id = id.text();
  const std::string what = std::exchange(refused_what_, {});
  record.method = std::string_view(what).substr(0, what.find(' '));
  if (what.size() > record.method.size()) record.path = std::string_view(what).substr(record.method.size() + 1);
  record.error = error;
  record.status = encoded.status;
  record.wall_started = services_.loop.wall_now();
  record.started = head_started_ == MonotonicTime{} ? services_.loop.now() : head_started_;
  record.config_generation = snapshot_->generation;
  std::string lines = relay::error_header_lines(id.text(), {}, {}, error);
  if (encoded.status == 401) lines.append("www-authenticate: Bearer\r\n");
  co_await send_local(encoded.status, std::move(lines), std::move(encoded.body));
  record.ended = services_.loop.precise_now();
  record.bytes_to_client = writer_->bytes_written();
  services_.observer.request_ended(record);
}

Task<void> Connection::send_local(int status, std::string header_lines, std::string body) {
  const std::string_view piece = body;
  if (writer_->reply(status, header_lines, {&piece, 1}) == relay::ClientPort::Taken::Pending) {
    const net::Scope scope{services_.loop.now() + snapshot_->timers.client_write_stall, nullptr};
    co_await writer_->flush(scope);
  }
}

Task<void> Connection::linger() {
  stream_.shutdown_write();
  const net::Scope scope{services_.loop.now() + kLinger, nullptr};
  std::size_t drained = 0;
  while (drained < kLingerBytesMax) {
    const net::IoTry got = stream_.try_read(services_.loop.scratch());
    if (got.status == net::IoStatus::Done) {
      drained += got.bytes;
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock) co_return;
    if (co_await stream_.readable(scope) != net::Wake::Ready) co_return;
  }
}

}  // namespace qq::downstream
