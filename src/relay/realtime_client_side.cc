#include <algorithm>
#include <span>

#include "relay/admit.h"
#include "relay/delivery.h"
#include "relay/realtime_relay.h"

namespace qq::relay {
namespace {

using wire::WebsocketClose;
using wire::WebsocketOpcode;
using WebsocketEvent = wire::WebsocketReader::Event;

// Messages of a client must come at this rate once their grace is over, as bodies must.
constexpr std::int64_t kBytesPerSecondMin = 1024;
// Of our own pings, whose answers are not for the provider.
constexpr std::string_view kOurPing = "queqiao";

}  // namespace

Task<void> RealtimeRelay::from_client(RealtimeRelay& self) {
  std::string held = self.client_.take_received();
  int reads = 0;
  while (!self.over()) {
    if (self.provider_.pending()) {
      co_await self.flush_to_provider();
      continue;
    }
    if (!held.empty()) {
      held.erase(0, self.take_from_client(held));
      continue;
    }
    if (++reads > kReadsInTurn) {
      reads = 0;
      const net::Scope turn{self.loop_.now() + Milliseconds(1), &self.stop_};
      static_cast<void>(co_await net::sleep(self.loop_, turn));
      continue;
    }
    net::Stream& stream = self.client_.stream();
    const std::span<char> scratch = self.loop_.scratch();
    const net::IoTry got = stream.try_read(scratch);
    if (got.status == net::IoStatus::Done) {
      self.state_.services.counters.bytes_from_clients.add(static_cast<std::int64_t>(got.bytes));
      const std::string_view bytes(scratch.data(), got.bytes);
      held.assign(bytes.substr(self.take_from_client(bytes)));
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock) {
      self.client_lost(client_gone());
      break;
    }
    reads = 0;
    const net::Scope waiting{self.client_deadline(), &self.stop_};
    const net::Wake wake = co_await stream.readable(waiting);
    if (wake == net::Wake::Deadline) self.check_client();
  }
}

// How much of it was taken: all, unless the provider is behind or the connection ends.
std::size_t RealtimeRelay::take_from_client(std::string_view bytes) {
  std::size_t taken = 0;
  while (!over() && !provider_.pending()) {
    const wire::WebsocketReader::Step step = client_reader_.feed(bytes.substr(taken));
    taken += step.consumed;
    if (!client_reader_.in_message()) {
      arriving_since_.reset();
    } else if (!arriving_since_) {
      arriving_since_ = loop_.now();
    }
    if (step.event) {
      client_heard_ = loop_.now();
      pinged_ = false;
    }
    if (step.reason != nullptr) {
      end({.error = Error::client(ErrorKind::InvalidRequest, step.reason),
           .to_client = step.error,
           .to_provider = WebsocketClose::GoingAway,
           .reason = step.reason});
    } else if (!has_room(client_reader_, client_budget_)) {
      end({.error = Error::gateway(ErrorKind::Saturated, "too many large messages are in flight"),
           .to_client = WebsocketClose::TryAgainLater,
           .to_provider = WebsocketClose::GoingAway,
           .reason = "too many large messages are in flight"});
    } else if (step.event) {
      take_client_event(*step.event);
    } else {
      break;
    }
  }
  if (provider_.broken() && !over()) provider_lost(ErrorKind::Reset, "the provider reset the connection");
  return over() ? bytes.size() : taken;
}

void RealtimeRelay::take_client_event(const WebsocketEvent& event) {
  switch (event.kind) {
    case WebsocketEvent::Kind::Text: return take_client_message(client_reader_.take_message());
    case WebsocketEvent::Kind::Ping: return provider_.say(WebsocketOpcode::Ping, event.payload);
    case WebsocketEvent::Kind::Pong:
      if (event.payload != kOurPing) provider_.say(WebsocketOpcode::Pong, event.payload);
      return;
    case WebsocketEvent::Kind::Close: break;
  }
  end({.to_client = event.code, .to_provider = event.code, .reason = std::string(event.payload)});
}

void RealtimeRelay::take_client_message(std::string message) {
  last_message_ = loop_.now();
  call_.bytes_read += message.size();
  if (!key_still_holds()) return;
  auto request =
      dialects::openai::read_realtime_request(message, limits_, call_.model, attempt_.target->upstream_model);
  if (!request) {
    refuse(request.error(), dialects::openai::realtime_event_id(message, limits_));
  } else {
    if (request->asks_response) {
      meter_.asked(request->event_id);
      provider_heard_ = loop_.now();
      wake_the_other();  // it has another deadline now
    }
    provider_.say(WebsocketOpcode::Text, request->changed ? request->text : message);
  }
  if (provider_.pending()) {
    state_.services.spare_bodies.give_back(std::move(message));  // its copy counts until it is sent
  } else {
    client_budget_.release(std::move(message));
  }
}

// Keys may be withdrawn, or lose the model; whoever is silent is found out with the next message.
bool RealtimeRelay::key_still_holds() {
  if (keys_of_ == state_.services.snapshot) return true;
  const auto key = known_key(*state_.services.snapshot, call_.key.reveal());
  if (key && admission::may_use(key->get(), call_.model)) {
    keys_of_ = state_.services.snapshot;
    return true;
  }
  end({.error =
           key ? Error::client(ErrorKind::Forbidden, "this key may not use the model any more") : key.error(),
       .to_client = WebsocketClose::Policy,
       .to_provider = WebsocketClose::GoingAway,
       .reason = "the API key may not use this any more"});
  return false;
}

// What does not go to the provider. A client that takes no answers cannot be told many of them.
void RealtimeRelay::refuse(const Error& error, std::string_view event_id) {
  if (client_.pending()) {
    return end({.error = error,
                .to_client = WebsocketClose::Policy,
                .to_provider = WebsocketClose::GoingAway,
                .reason = "messages that are refused come faster than their answers are taken"});
  }
  say_to_client(WebsocketOpcode::Text,
                dialects::openai::encode_realtime_error(error, state_.incoming.id.text(), event_id));
  if (client_.pending()) wake_the_other();
}

// A client that hangs up meanwhile is noticed, though nothing of it is read.
Task<void> RealtimeRelay::flush_to_provider() {
  const MonotonicTime from = loop_.now();
  client_.stream().watch_hangup(&stop_, ErrorKind::ClientGone);
  const net::Scope scope{kNever, &stop_};
  const net::Wake wake = co_await provider_.flush(scope, state_.snapshot.timers.send_progress);
  client_.stream().watch_hangup(nullptr);
  if (!provider_.pending()) client_budget_.release({});
  // Who is not read is neither silent nor slow.
  client_heard_ += loop_.now() - from;
  if (arriving_since_) *arriving_since_ += loop_.now() - from;
  if (provider_.broken()) {
    provider_lost(ErrorKind::Reset, "the provider reset the connection");
  } else if (wake == net::Wake::Deadline) {
    provider_lost(ErrorKind::SendTimeout, "the provider stopped taking messages");
  } else if (wake == net::Wake::Cancelled || over()) {
    client_lost(client_gone());  // unless there is another end already
  }
}

MonotonicTime RealtimeRelay::client_deadline() const noexcept {
  const Timers& timers = state_.snapshot.timers;
  if (arriving_since_) {
    const auto earned = static_cast<std::int64_t>(client_reader_.message_bytes()) / kBytesPerSecondMin;
    return *arriving_since_ + timers.client_body_grace + std::chrono::seconds(earned);
  }
  const MonotonicTime idle = last_message_ + timers.realtime_idle;
  return std::min(idle, client_heard_ + (pinged_ ? timers.client_idle : timers.client_idle / 2));
}

void RealtimeRelay::check_client() {
  const MonotonicTime now = loop_.now();
  const Timers& timers = state_.snapshot.timers;
  if (arriving_since_) {
    if (now < client_deadline()) return;
    return end({.error = Error::client(ErrorKind::RequestTimeout, "the message came too slowly"),
                .to_client = WebsocketClose::Policy,
                .to_provider = WebsocketClose::GoingAway,
                .reason = "the message came too slowly"});
  }
  if (now >= last_message_ + timers.realtime_idle && !meter_.runs()) {
    return end({.error = Error::client(ErrorKind::RequestTimeout,
                                       "nothing was said for as long as timers.realtime_idle allows"),
                .to_client = WebsocketClose::GoingAway,
                .to_provider = WebsocketClose::Normal,
                .reason = "nothing was said for too long"});
  }
  if (now >= last_message_ + timers.realtime_idle) last_message_ = now;  // the provider's turn
  if (now < client_deadline()) return;
  if (client_.pending()) {
    // A ping would wait behind what it has yet to take, and whether it takes that is judged there.
    client_heard_ = now;
    return;
  }
  if (pinged_) {
    return end({.error = Error::client(ErrorKind::ClientGone, "pings are not answered"),
                .to_client = WebsocketClose::Policy,
                .to_provider = WebsocketClose::GoingAway,
                .reason = "pings are not answered"});
  }
  pinged_ = true;
  say_to_client(WebsocketOpcode::Ping, kOurPing);
  if (client_.pending()) wake_the_other();
}

}  // namespace qq::relay
