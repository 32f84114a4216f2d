#include "simulator/provider/realtime_play.h"

#include <fmt/format.h>

#include "net/event_loop.h"
#include "wire/websocket.h"

namespace qq::simulator {
namespace {

using Place = RealtimeModel::Place;
using wire::WebsocketClose;
using wire::WebsocketOpcode;

constexpr std::size_t kRealtimeMessageMax = 64U << 20U;
constexpr std::uint64_t kUsualPlace = 3;

class Playing {
 public:
  Playing(net::Stream& stream, RealtimeModel model, const Script& script, net::Scope scope)
      : stream_(stream), model_(std::move(model)), script_(script), scope_(scope) {}

  Task<RealtimePlayed> run(std::string accept, std::string received);

 private:
  Task<bool> write(std::string bytes);
  Task<bool> say(std::string text);
  Task<bool> say_all(std::vector<RealtimeModel::Event> events);
  Task<bool> close(WebsocketClose code, std::string_view reason);
  Task<bool> wait(Milliseconds time);
  Task<bool> stall();
  Task<bool> strike();
  Task<bool> take(std::string bytes);
  Task<bool> take_event(wire::WebsocketReader::Event event);

  net::Stream& stream_;
  RealtimeModel model_;
  const Script& script_;
  net::Scope scope_;
  wire::WebsocketReader reader_{wire::WebsocketReader::From::Client, kRealtimeMessageMax};
  RealtimePlayed played_;
};

Task<bool> Playing::write(std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const iovec piece = net::as_iovec(rest);
    const net::IoTry tried = stream_.try_write({&piece, 1});
    if (tried.status == net::IoStatus::Failed || tried.status == net::IoStatus::Closed) co_return false;
    played_.bytes += tried.bytes;
    rest.remove_prefix(tried.bytes);
    if (rest.empty()) break;
    const net::Wake wake = co_await stream_.writable(scope_);
    if (wake != net::Wake::Ready) co_return false;
  }
  co_return true;
}

Task<bool> Playing::say(std::string text) {
  std::string bytes;
  wire::append_websocket_frame(bytes, WebsocketOpcode::Text, text);
  co_return co_await write(std::move(bytes));
}

Task<bool> Playing::close(WebsocketClose code, std::string_view reason) {
  std::string bytes;
  wire::append_websocket_close(bytes, code, reason);
  static_cast<void>(co_await write(std::move(bytes)));
  co_return false;
}

Task<bool> Playing::wait(Milliseconds time) {
  if (time.count() == 0) co_return true;
  const net::Wake wake =
      co_await net::sleep(stream_.loop(), scope_.until(stream_.loop().precise_now() + time));
  co_return wake != net::Wake::Cancelled;
}

// Until the other side hangs up.
Task<bool> Playing::stall() {
  static_cast<void>(co_await net::sleep(stream_.loop(), scope_));
  co_return false;
}

Task<bool> Playing::strike() {
  if (script_.faults.has(Fault::StallMidBody)) co_return co_await stall();
  played_.end = RealtimePlayed::End::Cut;
  if (script_.faults.has(Fault::ResetMidBody)) stream_.set_reset_on_close();
  co_return false;
}

Task<bool> Playing::say_all(std::vector<RealtimeModel::Event> events) {
  const FaultSet& faults = script_.faults;
  std::uint64_t deltas = 0;
  for (RealtimeModel::Event& event : events) {
    if (event.place == Place::Content) {
      const Milliseconds pause = deltas == 0 ? script_.ttft : script_.gap;
      const bool goes_on = co_await wait(pause);
      if (!goes_on) co_return false;
      if (deltas > 0 && faults.has(Fault::StallAfterContent)) co_return co_await stall();
      const bool strikes = faults.any(Fault::CloseMidBody, Fault::ResetMidBody, Fault::StallMidBody);
      if (strikes && deltas == script_.at.value_or(kUsualPlace)) co_return co_await strike();
      ++deltas;
    }
    if (event.place == Place::Done && faults.has(Fault::NoDone)) {
      played_.end = RealtimePlayed::End::Cut;
      co_return co_await close(WebsocketClose::InternalError, "the engine failed");
    }
    const bool said = co_await say(std::move(event.text));
    if (!said) co_return false;
  }
  co_return true;
}

Task<bool> Playing::take_event(wire::WebsocketReader::Event event) {
  using Kind = wire::WebsocketReader::Event::Kind;
  std::string bytes;
  switch (event.kind) {
    case Kind::Text: co_return co_await say_all(model_.answer(reader_.take_message()));
    case Kind::Pong: co_return true;
    case Kind::Ping:
      wire::append_websocket_frame(bytes, WebsocketOpcode::Pong, event.payload);
      co_return co_await write(std::move(bytes));
    case Kind::Close: break;
  }
  played_.end = RealtimePlayed::End::Complete;
  co_return co_await close(event.code, {});
}

Task<bool> Playing::take(std::string bytes) {
  std::string_view rest = bytes;
  for (;;) {
    const wire::WebsocketReader::Step step = reader_.feed(rest);
    rest.remove_prefix(step.consumed);
    if (step.reason != nullptr) co_return co_await close(step.error, step.reason);
    if (!step.event) co_return true;
    const bool goes_on = co_await take_event(*step.event);
    if (!goes_on) co_return false;
  }
}

Task<RealtimePlayed> Playing::run(std::string accept, std::string received) {
  std::string head = fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
      "sec-websocket-accept: {}\r\nopenai-version: 2020-10-01\r\n\r\n",
      accept);
  bool goes_on = co_await wait(script_.delay);
  if (goes_on) goes_on = co_await write(std::move(head));
  if (goes_on && script_.faults.has(Fault::StallAfterHead)) goes_on = co_await stall();
  if (goes_on) goes_on = co_await say_all(model_.greeting());
  if (goes_on) goes_on = co_await take(std::move(received));
  while (goes_on) {
    const std::span<char> scratch = stream_.loop().scratch();
    const net::IoTry tried = stream_.try_read(scratch);
    if (tried.status == net::IoStatus::Done) {
      goes_on = co_await take(std::string(scratch.data(), tried.bytes));
      continue;
    }
    if (tried.status != net::IoStatus::WouldBlock) break;
    const net::Wake wake = co_await stream_.readable(scope_);
    goes_on = wake == net::Wake::Ready;
  }
  co_return played_;
}

}  // namespace

Task<RealtimePlayed> play_realtime(net::Stream& stream, RealtimeModel model, Script script,
                                   std::string accept, std::string received, net::Scope scope) {
  Playing playing(stream, std::move(model), script, scope);
  co_return co_await playing.run(std::move(accept), std::move(received));
}

}  // namespace qq::simulator
