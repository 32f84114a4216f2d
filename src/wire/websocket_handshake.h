// WebSocket's opening handshake (RFC 6455, section 4), both halves.
#pragma once
#include <string>
#include <string_view>

#include "wire/http_head.h"

namespace qq::wire {

// A GET that asks for WebSocket, well or badly: the rest is for `read_websocket_opening`.
bool asks_for_websocket(const RequestHead& head) noexcept;

struct WebsocketOpening {
  int status = 101;         // or what a server answers: 400, 426 (with `sec-websocket-version: 13`)
  const char* reason = "";  // for the error message, a literal
  std::string_view key;     // Sec-WebSocket-Key, into the head's bytes
};
WebsocketOpening read_websocket_opening(const RequestHead& head);

// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

// The client's half: the header lines that ask for the upgrade, and what is wrong with a 101 that answers
// them (a literal; null: nothing). `key`: 16 random bytes as base64. No extension and no subprotocol is
// offered, so none may have been chosen.
void append_websocket_request(std::string& lines, std::string_view key);
const char* check_websocket_reply(const ResponseHead& head, std::string_view key);

// Of the subprotocols that are offered, those that begin with `prefix`: how many there are, and the first.
struct OfferedProtocols {
  std::size_t count = 0;
  std::string_view first;
};
OfferedProtocols offered_protocols(const Fields& fields, std::string_view prefix) noexcept;
// Whether this one is offered.
bool offers_protocol(const Fields& fields, std::string_view name) noexcept;

}  // namespace qq::wire
