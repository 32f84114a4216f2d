#include "downstream/websocket_reply.h"

#include <array>

#include "base/assert.h"

namespace qq::downstream {
namespace {

using wire::WebsocketOpcode;

bool is_event_stream(std::string_view header_lines) noexcept {
  return header_lines.find("content-type: text/event-stream") != std::string_view::npos;
}

}  // namespace

void WebsocketReply::start(net::Cancellation& gone, std::size_t event_max, std::chrono::nanoseconds waited) {
  gone_ = &gone;
  // Roomier than the relay, which has looked at the event's size already.
  events_.emplace(2 * event_max);
  mender_ = {};
  status_ = 0;
  complete_ = fragmented_ = false;
  bytes_before_ = out_.bytes_written();
  wait_before_ = out_.client_wait();
  waited_ = waited;
}

relay::ClientPort::Taken WebsocketReply::send(std::string_view head, std::string_view body) {
  const std::array<std::string_view, 2> pieces = {head, body};
  return out_.send_raw(pieces);
}

void WebsocketReply::ping() {
  if (!may_speak()) return;
  std::string frame;
  wire::append_websocket_frame(frame, WebsocketOpcode::Ping, {});
  send(frame);
}

void WebsocketReply::pong(std::string_view payload) {
  owed_pong_ = payload;
  send_owed_pong();
}

void WebsocketReply::send_owed_pong() {
  if (!owed_pong_ || out_.pending()) return;
  std::string frame;
  wire::append_websocket_frame(frame, WebsocketOpcode::Pong, *owed_pong_);
  owed_pong_.reset();
  if (may_speak()) send(frame);
}

void WebsocketReply::close(wire::WebsocketClose code, std::string_view reason) {
  if (!may_speak()) return;
  std::string frame;
  wire::append_websocket_close(frame, code, reason);
  send(frame);
  closed_ = true;
}

relay::ClientPort::Taken WebsocketReply::reply(int status, std::string_view /*header_lines*/,
                                               std::span<const std::string_view> body) {
  QQ_ASSERT(!begun());
  status_ = status;
  if (!may_speak()) return Taken::Gone;
  complete_ = true;
  std::string text;
  std::size_t size = 0;
  for (const std::string_view piece : body) size += piece.size();
  text.reserve(size);
  for (const std::string_view piece : body) mender_.feed(piece, text);
  mender_.finish(text);
  std::array<char, 10> head;
  return send(wire::websocket_head(WebsocketOpcode::Text, text.size(), head.data()), text);
}

void WebsocketReply::begin(int status, std::string header_lines) {
  QQ_ASSERT(!begun());
  status_ = status;
  if (!is_event_stream(header_lines)) events_.reset();
}

relay::ClientPort::Taken WebsocketReply::write(std::span<const std::string_view> pieces, Last last) {
  QQ_ASSERT(begun() && !complete_);
  if (!may_speak()) return Taken::Gone;
  std::string frames;
  bool anything = false;
  if (events_) {
    for (const std::string_view piece : pieces) {
      anything = anything || !piece.empty();
      unwrap(piece, frames);
    }
    if (events_->verdict() != wire::SseDecoder::Verdict::Ok) {
      abort();
      return Taken::Gone;
    }
    wire::SseEvent event;
    if (last == Last::Yes && events_->finish(event) && event.has_data) append_message(event.data, frames);
  } else {
    append_fragment(pieces, last, frames);
  }
  complete_ = last == Last::Yes;
  if (!frames.empty()) return send(frames);
  // A comment, which is there to keep the connection alive.
  if (anything && !complete_ && !pending() && events_->at_border()) ping();
  if (out_.broken()) return Taken::Gone;
  return pending() ? Taken::Pending : Taken::All;
}

void WebsocketReply::unwrap(std::string_view bytes, std::string& frames) {
  std::size_t consumed = 0;
  wire::SseEvent event;
  while (events_->next(bytes, consumed, event)) {
    if (event.has_data) append_message(event.data, frames);
  }
}

void WebsocketReply::append_message(std::string_view text, std::string& frames) {
  std::string mended;
  if (!wire::is_utf8(text)) {
    wire::Utf8Mender mender;
    mender.feed(text, mended);
    mender.finish(mended);
    text = mended;
  }
  wire::append_websocket_frame(frames, WebsocketOpcode::Text, text);
}

void WebsocketReply::append_fragment(std::span<const std::string_view> pieces, Last last,
                                     std::string& frames) {
  std::string text;
  for (const std::string_view piece : pieces) mender_.feed(piece, text);
  if (last == Last::Yes) mender_.finish(text);
  if (text.empty() && last == Last::No) return;
  const auto opcode = fragmented_ ? WebsocketOpcode::Continuation : WebsocketOpcode::Text;
  wire::append_websocket_frame(frames, opcode, text, std::nullopt,
                               last == Last::Yes ? wire::Fin::Yes : wire::Fin::No);
  fragmented_ = true;
}

void WebsocketReply::abort() noexcept {
  // Who does not take it need not hear why; who has said Close hears its echo.
  if (out_.pending() && !closed_) out_.abort();
}

Task<Result<>> WebsocketReply::flush(net::Scope scope) {
  Result<> flushed = co_await out_.flush(scope);
  if (flushed) send_owed_pong();
  co_return flushed;
}

}  // namespace qq::downstream
