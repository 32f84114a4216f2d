#include "fakes/websocket_client.h"

#include <fmt/format.h>

#include <utility>

namespace qq::fakes {

using wire::WebsocketOpcode;

namespace {
constexpr wire::WebsocketMask kClientMask = {'\x5a', '\x01', '\xc3', '\x77'};
}  // namespace

void WebsocketClient::open(std::string_view header_lines, std::string_view behind, std::string_view target) {
  client_.start(fmt::format("GET {} HTTP/1.1\r\nhost: gateway\r\nupgrade: websocket\r\n"
                            "connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {}\r\n"
                            "{}\r\n{}",
                            target, kKey, header_lines, behind),
                0);
}

std::string WebsocketClient::frame(WebsocketOpcode opcode, std::string_view payload, wire::Fin fin) {
  std::string bytes;
  wire::append_websocket_frame(bytes, opcode, payload, kClientMask, fin);
  return bytes;
}

void WebsocketClient::say_frame(WebsocketOpcode opcode, std::string_view payload, wire::Fin fin) {
  client_.say(frame(opcode, payload, fin));
}

void WebsocketClient::say_close(wire::WebsocketClose code, std::string_view reason) {
  std::string bytes;
  wire::append_websocket_close(bytes, code, reason, kClientMask);
  client_.say(bytes);
}

void WebsocketClient::look() {
  using Kind = wire::WebsocketReader::Event::Kind;
  std::string_view rest = std::string_view(client_.raw()).substr(taken_);
  if (head_.empty()) {
    const std::size_t end = rest.find("\r\n\r\n");
    if (end == std::string_view::npos) return;
    head_ = rest.substr(0, end + 4);
    rest.remove_prefix(head_.size());
    if (!head_.starts_with("HTTP/1.1 101 ")) fault_ = "no upgrade";
  }
  while (fault_.empty()) {
    const auto step = reader_.feed(rest);
    rest.remove_prefix(step.consumed);
    if (step.reason != nullptr) fault_ = step.reason;
    if (!step.event) break;
    switch (step.event->kind) {
      case Kind::Text: messages_.push_back(reader_.take_message()); break;
      case Kind::Ping:
        ++pings_;
        if (answers_pings_ && client_.running()) say_frame(WebsocketOpcode::Pong, step.event->payload);
        break;
      case Kind::Pong: pongs_.emplace_back(step.event->payload); break;
      case Kind::Close:
        close_ = fmt::format("{} {}", std::to_underlying(step.event->code), step.event->payload);
        break;
    }
  }
  if (fault_.empty() && !close_.empty() && !rest.empty()) fault_ = "bytes behind the Close";
  taken_ = client_.raw().size();
}

}  // namespace qq::fakes
