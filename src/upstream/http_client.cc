#include "upstream/http_client.h"

#include <fmt/format.h>

#include "base/text.h"
#include "upstream/hmac_lines.h"
#include "upstream/http_reply.h"
#include "upstream/request_lines.h"
#include "wire/http_head.h"
#include "wire/websocket_handshake.h"

namespace qq::upstream {
namespace {

using net::as_iovec;

// While a request body waits for a slow provider, how often we look whether it has answered early.
constexpr Milliseconds kEarlyReplyCheck{100};
// What a decoded answer may grow to.
constexpr std::size_t kDecodedMax = 64U << 20U;
// 100 Continue, 103 Early Hints and the like before the reply.
constexpr int kInterimRepliesMax = 16;
// A reused connection that the provider had closed already, with its FIN or RST still on its way, fails
// within one round trip: 350 ms between any two places on Earth. Who closes later may have worked on the
// request, so that is a failed attempt which the rules for retries judge, and not ours to repeat unseen.
constexpr Milliseconds kStaleWithin{500};
// Idle connections that make room for one that is needed. More than one: other loops want descriptors too,
// and may be quicker.
constexpr std::size_t kIdleForOne = 16;

void append_head(std::string& out, const relay::UpstreamCall& call) {
  const model::Target& target = *call.target;
  out.clear();
  append_all(out, method_word(call.method), " ", call.path_and_query(),
             " HTTP/1.1\r\nhost: ", target.origin.authority, "\r\n", target.auth_header_lines.reveal(),
             call.auth_lines);
  if (!target.default_header_lines.empty()) {
    append_missing_lines(out, target.default_header_lines, call.header_lines);
  }
  if (call.body_bytes > 0) append_all(out, "content-type: ", call.content_type, "\r\n");
  append_all(out, "accept-encoding: identity\r\nuser-agent: queqiao\r\naccept: ", accepted(call));
  if (call.once) {
    out.append("\r\nconnection: close\r\n\r\n");
    return;
  }
  if (!call.websocket_key.empty()) {
    out.append("\r\n");
    wire::append_websocket_request(out, call.websocket_key);
    append_all(out, "x-request-id: ", call.request_id, "\r\n", call.header_lines, "\r\n");
    return;
  }
  append_all(out, "\r\nx-request-id: ", call.request_id, "\r\n");
  if (call.method == relay::UpstreamCall::Method::Post) {
    append_all(out, "content-length: ", Decimal(call.body_bytes), "\r\n");
  }
  append_all(out, call.header_lines, "\r\n");
}

// Whether its connection may come from the pool and go back there. Those of hosts that strangers name never
// do: they would push out the providers' own. What becomes a WebSocket is no connection for requests any
// more.
bool is_pooled(const relay::UpstreamCall& call) noexcept {
  return !call.once && call.websocket_key.empty();
}

// How long a reply's head may take. Of a whole answer it comes with the content, when all of it has been
// generated; only a stream's, or that of a WebSocket, says that the provider has begun.
Milliseconds head_timer(const relay::UpstreamCall& call, const relay::Timers& timers) noexcept {
  const bool head_comes_first = call.stream || !call.websocket_key.empty();
  return head_comes_first ? timers.first_byte : std::max(timers.first_byte, timers.first_content);
}

// Drops the first `bytes` of a gathered write.
void advance(std::span<iovec>& pieces, std::size_t bytes) noexcept {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
}

}  // namespace

HttpUpstreamClient::HttpUpstreamClient(net::EventLoop& loop, relay::LoopCounters& counters,
                                       std::shared_ptr<net::TlsClientContext> tls, relay::OutboundProxy proxy)
    : loop_(loop),
      counters_(counters),
      connector_(loop, counters, std::move(tls), std::move(proxy)),
      pool_(loop, counters) {}

bool HttpUpstreamClient::drop_some_idle() {
  return pool_.drop_oldest(kIdleForOne);
}

void HttpUpstreamClient::close(std::unique_ptr<net::Stream> stream) noexcept {
  if (stream) counters_.upstream_connections_open.add(-1);
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> HttpUpstreamClient::send(const relay::UpstreamCall& call,
                                                                             const relay::Timers& timers,
                                                                             net::Scope scope) {
  const bool may_reuse = is_pooled(call) && !call.creates;
  std::unique_ptr<net::Stream> stream = may_reuse ? pool_.take(call.target->origin.pool_key) : nullptr;
  return stream ? send_pooled(std::move(stream), call, timers, scope) : send_fresh(call, timers, scope);
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> HttpUpstreamClient::send_pooled(
    std::unique_ptr<net::Stream> stream, const relay::UpstreamCall& call, const relay::Timers& timers,
    net::Scope scope) {
  counters_.upstream_reuses.add();
  bool reply_began = false;
  const MonotonicTime from = loop_.now();
  auto reply = co_await send_on(std::move(stream), call, timers, scope, reply_began);
  const bool stale =
      !reply && !reply_began &&
      (reply.error().kind == ErrorKind::EarlyClose || reply.error().kind == ErrorKind::Reset) &&
      loop_.now() - from <= kStaleWithin;
  if (!stale) co_return reply;
  if (scope.cancel != nullptr && scope.cancel->cancelled()) {
    co_return fail(
        net::cancelled_error(scope, AttemptPhase::SentNoReply));  // nobody is there to ask again for
  }
  counters_.upstream_resends.add();
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> again =
      call.target->request_auth == model::RequestAuth::Hmac ? send_signed_anew(call, timers, scope)
                                                            : send_fresh(call, timers, scope);
  reply = co_await std::move(again);
  co_return reply;
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> HttpUpstreamClient::send_signed_anew(
    const relay::UpstreamCall& call, const relay::Timers& timers, net::Scope scope) {
  const std::string lines = hmac_lines(call, loop_.wall_now());
  relay::UpstreamCall anew = call;
  anew.auth_lines = lines;
  auto reply = co_await send_fresh(anew, timers, scope);
  co_return reply;
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> HttpUpstreamClient::send_fresh(
    const relay::UpstreamCall& call, const relay::Timers& timers, net::Scope scope) {
  const model::Origin& origin = call.target->origin;
  Result<std::unique_ptr<net::Stream>> opened = co_await connector_.open(origin, timers, scope);
  if (!opened && opened.error().kind == ErrorKind::Saturated && drop_some_idle()) {
    opened = co_await connector_.open(origin, timers, scope);
  }
  if (!opened && opened.error().origin == ErrorOrigin::Upstream && loop_.now() >= scope.deadline) {
    // Not the provider's slowness: there was no more time to give.
    co_return fail(Error::upstream(ErrorKind::TotalTimeout, AttemptPhase::NotSent,
                                   "the request's deadline came while a connection was being made"));
  }
  if (!opened) co_return fail(std::move(opened).error());
  bool reply_began = false;
  co_return co_await send_on(*std::move(opened), call, timers, scope, reply_began);
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> HttpUpstreamClient::send_on(
    std::unique_ptr<net::Stream> stream, const relay::UpstreamCall& call, const relay::Timers& timers,
    net::Scope scope, bool& reply_began) {
  // Closes what is left at every early return.
  struct Closer {
    HttpUpstreamClient& client;
    std::unique_ptr<net::Stream>& stream;
    ~Closer() { client.close(std::move(stream)); }
  } closer{*this, stream};

  append_head(head_text_, call);
  pieces_.clear();
  pieces_.push_back(as_iovec(head_text_));
  for (const std::string_view piece : call.body_pieces) pieces_.push_back(as_iovec(piece));
  std::span<iovec> rest(pieces_);
  const std::size_t total = head_text_.size() + call.body_bytes;
  std::size_t sent = 0;

  // The usual case: the socket's buffer takes all of it at once.
  net::IoTry wrote = stream->try_write(rest);
  if (wrote.status == net::IoStatus::Done) sent = wrote.bytes;
  counters_.bytes_to_upstreams.add(static_cast<std::int64_t>(sent));
  // A failed write may still have an answer waiting behind it: a provider that refuses early.
  bool may_send = wrote.status != net::IoStatus::Failed;
  std::string own_head;  // across a suspension the shared buffers belong to others
  std::vector<iovec> own_pieces;
  if (may_send && sent < total) {
    own_head = head_text_;
    own_pieces = pieces_;
    own_pieces[0] = as_iovec(own_head);
    rest = own_pieces;
    advance(rest, sent);
  }

  const wire::HeadLimits limits;
  std::string storage;
  std::size_t scanned = 0;
  int interim_replies = 0;
  MonotonicTime first_byte_deadline = loop_.now() + head_timer(call, timers);
  net::Scope waiting_scope = scope;  // another when the client has left and the reply is wanted all the same
  for (;;) {
    net::IoTry got;
    // An interim reply does not end the sending; a final one does.
    if (sent < total && may_send && storage.empty()) {
      MonotonicTime progress_deadline = loop_.now() + timers.send_progress;
      while (sent < total) {
        // Readiness alone is no reply: TLS sends tickets, and wake-ups may be spurious.
        if (stream->maybe_readable()) got = stream->try_read(loop_.scratch());
        if (got.status != net::IoStatus::WouldBlock) break;
        wrote = stream->try_write(rest);
        if (wrote.status == net::IoStatus::Done) {
          sent += wrote.bytes;
          counters_.bytes_to_upstreams.add(static_cast<std::int64_t>(wrote.bytes));
          advance(rest, wrote.bytes);
          progress_deadline = loop_.now() + timers.send_progress;
          continue;
        }
        if (wrote.status != net::IoStatus::WouldBlock) {
          may_send = false;
          break;
        }
        const net::Wake wake = co_await stream->writable(
            scope.until(std::min(progress_deadline, loop_.now() + kEarlyReplyCheck)));
        const AttemptPhase phase = reply_began ? AttemptPhase::ReplyBegun : AttemptPhase::SentNoReply;
        if (wake == net::Wake::Cancelled) co_return fail(net::cancelled_error(scope, phase));
        if (wake == net::Wake::Deadline && loop_.now() >= scope.deadline) {
          co_return fail(Error::upstream(ErrorKind::TotalTimeout, phase,
                                         "the request's deadline came while it was being sent"));
        }
        if (wake == net::Wake::Deadline && loop_.now() >= progress_deadline) {
          co_return fail(
              Error::upstream(ErrorKind::SendTimeout, phase, "the provider stopped taking the request"));
        }
      }
      first_byte_deadline = loop_.now() + head_timer(call, timers);
    }
    const std::span<char> scratch = loop_.scratch();
    if (got.status == net::IoStatus::WouldBlock) got = stream->try_read(scratch);
    const net::Scope waiting = waiting_scope.until(first_byte_deadline);
    if (got.status == net::IoStatus::WouldBlock) {
      const net::Wake wake = co_await stream->readable(waiting);
      if (wake == net::Wake::Ready) continue;
      const AttemptPhase phase = reply_began ? AttemptPhase::ReplyBegun : AttemptPhase::SentNoReply;
      if (wake == net::Wake::Cancelled || waiting_scope.cancel != scope.cancel) {
        const bool wanted = call.patience != nullptr && sent == total && loop_.now() < first_byte_deadline;
        const auto until = wanted ? call.patience->wait_until() : std::nullopt;
        if (!until) co_return fail(net::cancelled_error(scope, phase));
        waiting_scope = {*until, nullptr};
        continue;
      }
      const bool total_passed = loop_.now() >= scope.deadline;
      co_return fail(Error::upstream(total_passed ? ErrorKind::TotalTimeout : ErrorKind::FirstByteTimeout,
                                     phase,
                                     total_passed ? "the request's deadline came before an answer"
                                                  : "the provider did not begin to answer in time"));
    }
    if (got.status != net::IoStatus::Done) {
      if (reply_began) {
        co_return fail(Error::upstream(ErrorKind::EarlyClose, AttemptPhase::ReplyBegun,
                                       "the provider closed the connection inside the reply's head"));
      }
      co_return fail(Error::upstream(
          got.status == net::IoStatus::Closed ? ErrorKind::EarlyClose : ErrorKind::Reset,
          AttemptPhase::SentNoReply,
          got.status == net::IoStatus::Closed ? "the provider closed the connection without an answer"
                                              : "the provider reset the connection before an answer"));
    }
    reply_began = true;
    counters_.bytes_from_upstreams.add(static_cast<std::int64_t>(got.bytes));
    std::span<char> bytes = scratch.first(got.bytes);
    if (!storage.empty()) {
      storage.append(bytes.data(), bytes.size());
      bytes = std::span<char>(storage.data(), storage.size());
    }
    for (;;) {  // over interim replies that came in one read
      const wire::HeadVerdict verdict =
          wire::read_response_head({bytes.data(), bytes.size()}, limits, head_, scanned);
      if (verdict.kind == wire::HeadVerdict::Kind::Bad) {
        co_return fail(
            Error::upstream(ErrorKind::BadFrame, AttemptPhase::ReplyBegun,
                            fmt::format("the provider's reply is not HTTP/1.1: {}", verdict.reason)));
      }
      if (verdict.kind == wire::HeadVerdict::Kind::Incomplete) {
        storage = std::string(bytes.data(), bytes.size());
        scanned = storage.size();
        break;
      }
      bytes = bytes.subspan(verdict.consumed);
      scanned = 0;
      const bool is_upgrade = head_.status == 101 && !call.websocket_key.empty();
      if (is_upgrade) head_.framing.kind = wire::Framing::Kind::UntilClose;
      if (head_.status >= 100 && head_.status < 200 && !is_upgrade) {
        if (head_.status == 101 || ++interim_replies > kInterimRepliesMax) {
          co_return fail(Error::upstream(ErrorKind::BadFrame, AttemptPhase::ReplyBegun,
                                         "the provider sent an unexpected interim reply"));
        }
        if (bytes.empty()) {
          storage.clear();
          break;
        }
        continue;
      }
      const auto coding = is_upgrade ? std::nullopt : head_.fields.find("content-encoding");
      // `bytes` may lie in `storage`; it holds a whole head, so it is on the heap and moving keeps its
      // buffer.
      const std::string coding_name(coding.value_or(std::string_view()));
      auto reply = std::make_unique<HttpReply>(*this, std::move(stream), call.target->origin.pool_key,
                                               sent == total && is_pooled(call), std::move(storage), bytes);
      if (!coding_name.empty()) {
        if (Result<> set = reply->set_decoder(coding_name, kDecodedMax); !set) {
          Error error = std::move(set).error();
          error.origin = ErrorOrigin::Upstream;
          error.phase = AttemptPhase::ReplyBegun;
          co_return fail(std::move(error));
        }
      }
      co_return std::unique_ptr<relay::UpstreamReply>(std::move(reply));
    }
  }
}

}  // namespace qq::upstream
