#include "wire/websocket_handshake.h"

#include <algorithm>

#include "base/base64.h"
#include "base/sha1.h"

namespace qq::wire {
namespace {

// RFC 6455 1.3.
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::string_view without_outer_space(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t";
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// Calls `visit` with each word of the comma-separated lists in all fields of that name.
template <typename Visit>
void for_each_word(const Fields& fields, std::string_view name, Visit visit) {
  for (const Field& field : fields.all()) {
    if (!iequals(field.name, name)) continue;
    std::string_view list = field.value;
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view word = without_outer_space(list.substr(0, comma));
      if (!word.empty()) visit(word);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
}

bool lists(const Fields& fields, std::string_view name, std::string_view wanted) noexcept {
  bool found = false;
  for_each_word(fields, name, [&](std::string_view word) { found = found || iequals(word, wanted); });
  return found;
}

}  // namespace

bool asks_for_websocket(const RequestHead& head) noexcept {
  return head.method == "GET" && lists(head.fields, "upgrade", "websocket");
}

WebsocketOpening read_websocket_opening(const RequestHead& head) {
  WebsocketOpening opening;
  const auto refuse = [&](int status, const char* reason) {
    opening.status = status;
    opening.reason = reason;
    return opening;
  };
  if (head.minor_version < 1) return refuse(400, "a WebSocket needs HTTP/1.1");
  if (head.framing.kind != Framing::Kind::None) return refuse(400, "a WebSocket's handshake has no body");
  if (!lists(head.fields, "connection", "upgrade")) return refuse(400, "the header Connection lacks upgrade");
  if (head.fields.count("sec-websocket-version") != 1 || *head.fields.find("sec-websocket-version") != "13") {
    return refuse(426, "only version 13 of WebSocket is spoken here");
  }
  if (head.fields.count("sec-websocket-key") != 1) {
    return refuse(400, "a WebSocket's handshake has one header Sec-WebSocket-Key");
  }
  opening.key = *head.fields.find("sec-websocket-key");
  const auto nonce = from_base64(opening.key);
  if (!nonce || nonce->size() != 16) return refuse(400, "Sec-WebSocket-Key must be 16 bytes as base64");
  return opening;
}

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text.append(kGuid);
  return to_base64(bytes_of(sha1(text)));
}

void append_websocket_request(std::string& lines, std::string_view key) {
  lines
      .append("connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ")
      .append(key)
      .append("\r\n");
}

const char* check_websocket_reply(const ResponseHead& head, std::string_view key) {
  if (head.status != 101) return "it is no upgrade";
  if (!lists(head.fields, "upgrade", "websocket")) return "the header Upgrade is not websocket";
  if (!lists(head.fields, "connection", "upgrade")) return "the header Connection lacks upgrade";
  const auto accept = head.fields.find("sec-websocket-accept");
  if (!accept || *accept != websocket_accept(key)) return "Sec-WebSocket-Accept is not that of the key";
  if (head.fields.count("sec-websocket-extensions") > 0)
    return "an extension was chosen that was not offered";
  if (head.fields.count("sec-websocket-protocol") > 0) return "a subprotocol was chosen that was not offered";
  return nullptr;
}

OfferedProtocols offered_protocols(const Fields& fields, std::string_view prefix) noexcept {
  OfferedProtocols offered;
  for_each_word(fields, "sec-websocket-protocol", [&](std::string_view word) {
    if (word.starts_with(prefix) && offered.count++ == 0) offered.first = word;
  });
  return offered;
}

bool offers_protocol(const Fields& fields, std::string_view name) noexcept {
  bool found = false;
  for_each_word(fields, "sec-websocket-protocol",
                [&](std::string_view word) { found = found || word == name; });
  return found;
}

}  // namespace qq::wire
