#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "providers/masking.h"
#include "relay/realtime_relay.h"

namespace qq::relay {
namespace {

using dialects::openai::RealtimeEvent;
using wire::WebsocketClose;
using wire::WebsocketOpcode;
using WebsocketEvent = wire::WebsocketReader::Event;

// What a provider's Close says about the connection, while `runs` a response. Nothing: it ended as it may.
std::optional<Error> fault_of(WebsocketClose code, bool runs) {
  const auto said = [&](ErrorKind kind) {
    return provider_fault(
        kind, fmt::format("the provider closed the connection with code {}", std::to_underlying(code)));
  };
  switch (code) {
    case WebsocketClose::Normal:
    case WebsocketClose::GoingAway:
    case WebsocketClose::NoCode:
      if (runs) return said(ErrorKind::StreamCut);
      return std::nullopt;
    case WebsocketClose::InternalError: return said(ErrorKind::ServerError);
    case WebsocketClose::TryAgainLater: return said(ErrorKind::Overloaded);
    default: break;
  }
  const auto number = std::to_underlying(code);
  if (number == 1012 || number == 1014) return said(ErrorKind::ServerError);  // restart, bad gateway
  return said(ErrorKind::Refused);
}

}  // namespace

Task<void> RealtimeRelay::from_provider() {
  int reads = 0;
  while (!over()) {
    if (client_.pending()) {
      co_await flush_to_client();
      continue;
    }
    if (!provider_held_.empty()) {
      provider_held_.erase(0, take_from_provider(provider_held_));
      continue;
    }
    if (++reads > kReadsInTurn) {
      reads = 0;
      const net::Scope turn{loop_.now() + Milliseconds(1), &stop_};
      static_cast<void>(co_await net::sleep(loop_, turn));
      continue;
    }
    const UpstreamReply::Piece piece = reply_.try_read();
    if (piece.kind == UpstreamReply::Piece::Kind::Bytes) {
      provider_held_.assign(piece.bytes.substr(take_from_provider(piece.bytes)));
      continue;
    }
    if (piece.kind == UpstreamReply::Piece::Kind::End) {
      provider_lost(ErrorKind::StreamCut, "the provider ended the connection without a word");
    } else if (piece.kind == UpstreamReply::Piece::Kind::Failed) {
      provider_lost(ErrorKind::Reset, "the provider reset the connection");
    } else {
      reads = 0;
      if (wake_->cancelled()) wake_.emplace(loop_);
      const net::Scope waiting{provider_deadline(), &*wake_};
      const net::Wake wake = co_await reply_.readable(waiting);
      if (wake == net::Wake::Deadline) check_provider();
    }
  }
}

std::size_t RealtimeRelay::take_from_provider(std::string_view bytes) {
  std::size_t taken = 0;
  while (!over() && !client_.pending()) {
    const wire::WebsocketReader::Step step = provider_reader_.feed(bytes.substr(taken));
    taken += step.consumed;
    if (step.reason != nullptr) {
      const bool too_big = step.error == WebsocketClose::TooBig;
      provider_lost(too_big ? ErrorKind::EventTooBig : ErrorKind::BadFrame,
                    fmt::format("the provider's WebSocket is broken: {}", step.reason));
    } else if (!has_room(provider_reader_, provider_budget_)) {
      end({.error = Error::gateway(ErrorKind::Saturated, "too many large messages are in flight"),
           .to_client = WebsocketClose::TryAgainLater,
           .to_provider = WebsocketClose::GoingAway,
           .reason = "too many large messages are in flight",
           .tells_error = true});
    } else if (step.event) {
      take_provider_event(*step.event);
    } else {
      break;
    }
  }
  return taken;
}

void RealtimeRelay::take_provider_event(const WebsocketEvent& event) {
  switch (event.kind) {
    case WebsocketEvent::Kind::Text: return take_provider_message(provider_reader_.take_message());
    case WebsocketEvent::Kind::Ping: return say_to_client(WebsocketOpcode::Ping, event.payload);
    case WebsocketEvent::Kind::Pong: return say_to_client(WebsocketOpcode::Pong, event.payload);
    case WebsocketEvent::Kind::Close: break;
  }
  Ending ending{.error = fault_of(event.code, meter_.runs() || meter_.asks()),
                .to_client = event.code,
                .to_provider = event.code,
                .reason = std::string(event.payload),
                .by_provider = true};
  providers::hide_credential(ending.reason, providers::credential_of(*attempt_.target));
  ending.reason = providers::mask_keys(ending.reason);
  end(std::move(ending));
}

void RealtimeRelay::take_provider_message(std::string message) {
  greeted_ = true;
  provider_heard_ = last_message_ = loop_.now();
  const RealtimeEvent event =
      dialects::openai::read_realtime_event(message, limits_, attempt_.target->quirks);
  meter_.take(event);
  if (!parting_) {
    const bool tells_why = event.kind == RealtimeEvent::Kind::Error || event.status == "failed";
    const bool renamed = !shown_name_.empty() && !event.model.text().empty();
    say_to_client(WebsocketOpcode::Text, tells_why || renamed ? shown(message, event) : message);
    finish_if_idle();
  }
  provider_budget_.release(std::move(message));
}

// With the name that the client knows, and without what an error may tell of our account.
std::string RealtimeRelay::shown(std::string_view message, const RealtimeEvent& event) const {
  std::string text = shown_name_.empty() || event.model.text().empty()
                         ? std::string(message)
                         : dialects::openai::with_model(message, event, shown_name_);
  if (event.kind == RealtimeEvent::Kind::Error || event.status == "failed") {
    providers::hide_credential_in_json(text, providers::credential_of(*attempt_.target));
    if (!text.empty()) text = providers::mask_keys_in_json(text);
    if (text.empty()) {
      text = dialects::openai::encode_realtime_error(
          provider_fault(ErrorKind::StreamError, "the provider said an error that cannot be shown"),
          state_.incoming.id.text(), {});
    }
  }
  return text;
}

Task<void> RealtimeRelay::flush_to_client() {
  const net::Scope scope{kNever, &stop_};
  Result<> flushed = co_await client_.flush(scope);
  provider_heard_ = std::max(provider_heard_, loop_.now());  // who is not read is not silent
  if (!flushed && !over()) client_lost(std::move(flushed).error());
}

MonotonicTime RealtimeRelay::provider_deadline() const noexcept {
  const Timers& timers = state_.snapshot.timers_of(*attempt_.target);
  if (!greeted_) return opened_ + timers.first_content;
  if (meter_.asks()) return provider_heard_ + timers.first_content;
  return meter_.runs() ? provider_heard_ + timers.event_gap : kNever;
}

void RealtimeRelay::check_provider() {
  if (loop_.now() < provider_deadline()) return;
  const bool first = !greeted_ || meter_.asks();
  provider_lost(first ? ErrorKind::FirstContentTimeout : ErrorKind::EventGapTimeout,
                "the provider was silent for too long");
}

}  // namespace qq::relay
