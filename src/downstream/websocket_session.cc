#include "downstream/websocket_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "downstream/body_pace.h"
#include "downstream/closing.h"
#include "downstream/own_record.h"
#include "downstream/refusals.h"
#include "relay/admit.h"
#include "relay/client_words.h"

namespace qq::downstream {
namespace {

using Event = wire::WebsocketReader::Event;
using wire::WebsocketClose;

// Messages that may wait while one is answered; guesses.
constexpr std::size_t kWaitingMax = 4;
// Messages that wait, refused ones included, before the connection is given up.
constexpr std::size_t kAskedMax = 32;
// Reads in one turn of the loop, 64 KiB each, before the others of the loop have theirs.
constexpr int kReadsMax = 16;
constexpr std::string_view kShuttingDown = "the gateway is shutting down";

}  // namespace

WebsocketSession::WebsocketSession(Server& server, net::Stream& stream, ClientWriter& out,
                                   WebsocketUpgrade upgrade)
    : server_(server),
      services_(server.services()),
      stream_(stream),
      out_(out),
      upgrade_(std::move(upgrade)),
      reply_(out),
      reader_(wire::WebsocketReader::From::Client, services_.snapshot->limits.body_max),
      stop_(services_.loop),
      work_(services_.loop),
      heard_(services_.loop.now()),
      answered_(heard_) {}

Task<void> WebsocketSession::serve(std::string received) {
  const std::string_view opening = upgrade_.reply;
  out_.send_raw({&opening, 1});
  std::string().swap(upgrade_.reply);
  tasks_.spawn(answer_all(*this));
  co_await read_all(std::move(received));
  stop_.cancel(ErrorKind::Cancelled);
  if (gone_) gone_->cancel(ErrorKind::ClientGone);
  co_await tasks_.joined();
  give_up_waiting();
  if (out_.broken()) co_return;
  if (out_.pending()) {
    Result<> flushed = co_await out_.flush(last_bytes());
    if (!flushed) co_return;
  }
  co_await settle(stream_, last_bytes(), services_.snapshot->timers.client_write_stall);
  // Until the client has said its Close, too, and has hung up.
  co_await linger(server_, stream_, last_bytes(), services_.snapshot->limits.body_max, BodyUnread::No);
}

void WebsocketSession::ask_to_finish() noexcept {
  finish_ = true;
  work_.set();
}

void WebsocketSession::terminate() noexcept {
  finish_ = cut_ = true;
  if (running_) {
    gone_->cancel(ErrorKind::ShuttingDown);
  } else {
    end(WebsocketClose::GoingAway, kShuttingDown);
  }
}

// The closing handshake begins, and both coroutines end.
void WebsocketSession::end(WebsocketClose code, std::string_view reason) noexcept {
  reply_.close(code, reason);
  stop_.cancel(ErrorKind::Cancelled);
}

net::Scope WebsocketSession::last_bytes() noexcept {
  return {services_.loop.now() + services_.snapshot->timers.total, &server_.cut()};
}

// --- reading ---

Task<void> WebsocketSession::read_all(std::string received) {
  bool goes_on = take(received);
  std::string().swap(received);
  int reads = 0;
  while (goes_on && !stop_.cancelled()) {
    if (++reads > kReadsMax) {
      reads = 0;
      const net::Scope turn{services_.loop.now() + Milliseconds(1), &stop_};
      static_cast<void>(co_await net::sleep(services_.loop, turn));
      goes_on = still_there();  // who never stops sending has deadlines, too
      continue;
    }
    const std::span<char> scratch = services_.loop.scratch();
    const net::IoTry got = stream_.try_read(scratch);
    if (got.status == net::IoStatus::Done) {
      services_.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
      goes_on = take({scratch.data(), got.bytes});
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock) {
      out_.abort();  // it left without a Close
      co_return;
    }
    reads = 0;
    const net::Scope waiting{deadline(), &stop_};
    const net::Wake wake = co_await stream_.readable(waiting);
    if (wake == net::Wake::Deadline) goes_on = still_there();
  }
}

// False when nothing more is to be read.
bool WebsocketSession::take(std::string_view bytes) {
  for (;;) {
    const wire::WebsocketReader::Step step = reader_.feed(bytes);
    bytes.remove_prefix(step.consumed);
    if (step.reason != nullptr) {
      end(step.error, step.reason);
      return false;
    }
    if (reader_.in_message()) watch_arriving();
    if (!step.event) return true;
    heard_ = services_.loop.now();
    pinged_ = false;
    const bool goes_on = take_event(*step.event);
    if (!goes_on) return false;
  }
}

bool WebsocketSession::take_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::Ping:
      reply_.pong(event.payload);
      if (out_.pending()) work_.set();
      return true;
    case Event::Kind::Pong: return true;
    case Event::Kind::Close:
      // The handshake's other half. Whose answer runs does not want it.
      end(event.code, {});
      return false;
    case Event::Kind::Text: break;
  }
  take_message();
  if (asked_.size() <= kAskedMax) return true;
  end(WebsocketClose::Policy, "too many messages at once; wait for answers");
  return false;
}

// A message is on its way: may it come?
void WebsocketSession::watch_arriving() {
  if (!arriving_) {
    arriving_.emplace();
    relay::IncomingRequest& incoming = arriving_->incoming;
    incoming.id = RequestId::make(services_.loop.wall_now(), services_.random);
    incoming.wall_started = services_.loop.wall_now();
    incoming.started = services_.loop.now();
    incoming.method = "GET";
    incoming.path = kWebsocketPath;
    incoming.endpoint = model::Endpoint::ChatCompletions;
  }
  arriving_->bytes = reader_.message_bytes();
  if (arriving_->discarded) return;
  arriving_->refusal = no_room();
  if (!arriving_->refusal) return;
  arriving_->discarded = true;
  reader_.discard_message();
  arriving_->incoming.free_body();
}

std::optional<Error> WebsocketSession::no_room() noexcept {
  // Until the first of them is taken up, it waits among them.
  if (asked_.size() >= (running_ ? kWaitingMax : kWaitingMax + 1)) {
    return saturated(
        fmt::format("{} messages wait already; wait for answers before you send more", kWaitingMax));
  }
  const int step = services_.process.memory_step.load(std::memory_order_relaxed);
  if (step >= 2 || (step == 1 && reader_.message_bytes() > relay::kLargeBody)) return short_of_memory();
  if (!arriving_->incoming.budget.grow_to(services_, reader_.held())) return too_many_bodies();
  return std::nullopt;
}

// The message that was on its way is there.
void WebsocketSession::take_message() {
  watch_arriving();  // it may have come in one piece
  arriving_->incoming.body = reader_.take_message();
  arriving_->complete = services_.loop.now();
  asked_.push_back(*std::move(arriving_));
  arriving_.reset();
  work_.set();
}

MonotonicTime WebsocketSession::arriving_until() const noexcept {
  return body_deadline(services_.snapshot->timers, arriving_->incoming.started, reader_.message_bytes());
}

// Until when nothing need be heard.
MonotonicTime WebsocketSession::deadline() const noexcept {
  if (arriving_) return arriving_until();
  const auto idle = services_.snapshot->timers.client_idle;
  if (runs_request()) return services_.loop.now() + idle / 2;
  return std::max(heard_, answered_) + (pinged_ ? idle : idle / 2);
}

bool WebsocketSession::still_there() {
  if (services_.loop.now() < deadline()) return true;
  if (arriving_) {
    end(WebsocketClose::Policy, "the message came too slowly");
    return false;
  }
  if (pinged_) {
    end(WebsocketClose::Policy, "pings are not answered");
    return false;
  }
  pinged_ = true;
  reply_.ping();
  if (out_.pending()) work_.set();
  return true;
}

// --- answering ---

Task<void> WebsocketSession::answer_all(WebsocketSession& session) {
  while (!session.stop_.cancelled() && !session.out_.broken()) {
    session.work_.reset();
    const net::Scope scope{kNever, &session.stop_};
    if (session.out_.pending()) {
      Result<> flushed = co_await session.reply_.flush(scope);
      if (!flushed) break;
    } else if (!session.asked_.empty()) {
      WebsocketAsked asked = std::move(session.asked_.front());
      session.asked_.pop_front();
      co_await session.answer(std::move(asked));
    } else if (session.cut_ || (session.finish_ && !session.arriving_)) {
      session.end(WebsocketClose::GoingAway, kShuttingDown);
    } else {
      static_cast<void>(co_await session.work_.wait(scope));
    }
  }
  session.stop_.cancel(ErrorKind::Cancelled);
}

// Its turn: the newest configuration counts, and the key must be one of it.
std::optional<Error> WebsocketSession::take_up(WebsocketAsked& asked) {
  relay::IncomingRequest& incoming = asked.incoming;
  // It has waited for the answers before it, which is nobody's slowness.
  incoming.started = std::max(incoming.started, answered_);
  incoming.snapshot = services_.snapshot;
  gone_.emplace(services_.loop);
  reply_.start(*gone_, incoming.snapshot->limits.event_max,
               std::max(asked.complete - incoming.started, MonotonicTime::duration{0}));
  const auto key = relay::known_key(*incoming.snapshot, upgrade_.key.reveal());
  if (!key) return key.error();
  incoming.key = &key->get();
  return std::nullopt;
}

Task<void> WebsocketSession::answer(WebsocketAsked asked) {
  std::optional<Error> unknown_key = take_up(asked);
  const bool withdrawn = unknown_key.has_value();
  if (withdrawn) {
    asked.refusal = std::move(unknown_key);
  } else if (cut_ || (finish_ && !server_.takes_requests())) {
    asked.refusal = saturated("the gateway is shutting down; try again");
  }
  running_ = true;
  if (asked.refusal) {
    co_await refuse(asked);
  } else {
    asked.incoming.header_lines = upgrade_.header_lines;
    Task<void> relaying = relay::relay_request(services_, std::move(asked.incoming), reply_);
    co_await std::move(relaying);
  }
  running_ = false;
  answered_ = services_.loop.now();
  pinged_ = false;
  // What comes next would be taken for more of this answer.
  if (!reply_.complete()) {
    end(cut_ ? WebsocketClose::GoingAway : WebsocketClose::InternalError,
        cut_ ? kShuttingDown : "the answer could not be ended");
  }
  if (withdrawn) end(WebsocketClose::Policy, "the API key is not known any more");
}

Task<void> WebsocketSession::refuse(WebsocketAsked& asked) {
  const Error& error = *asked.refusal;
  const auto encoded = relay::encode_error(model::Dialect::OpenAiChat, error, asked.incoming.id.text());
  const std::string_view body = encoded.body;
  if (reply_.reply(encoded.status, {}, {&body, 1}) == relay::ClientPort::Taken::Pending) {
    static_cast<void>(co_await reply_.flush(last_bytes()));
  }
  record(asked, reply_.status(), error);
}

// What waits, or was on its way, has no turn any more.
void WebsocketSession::give_up_waiting() {
  if (arriving_) asked_.push_back(*std::exchange(arriving_, std::nullopt));
  const Error error =
      cut_ ? Error::gateway(ErrorKind::ShuttingDown, "the gateway is shutting down; try again")
           : Error::client(ErrorKind::ClientGone, "the connection ended before this message had its answer");
  for (WebsocketAsked& asked : asked_) {
    take_up(asked);
    record(asked, 0, error);
  }
  asked_.clear();
}

void WebsocketSession::record(const WebsocketAsked& asked, int status, const Error& error) {
  OwnRequest own;
  own.id = asked.incoming.id;
  own.wall_started = asked.incoming.wall_started;
  own.started = asked.incoming.started;
  own.what = fmt::format("{} {}", asked.incoming.method, asked.incoming.path);
  own.key = asked.incoming.key;
  own.body_bytes = asked.bytes;
  own.config_generation = asked.incoming.snapshot->generation;
  record_own(services_, reply_, own, status, &error);
}

}  // namespace qq::downstream
