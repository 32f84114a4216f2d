#include "downstream/websocket_upgrade.h"

#include <fmt/format.h>

#include "relay/admit.h"
#include "wire/websocket_handshake.h"

namespace qq::downstream {
namespace {

// The subprotocol that we name to who offers it: browsers give up where one of several is not chosen, and
// the one with the key is not to be repeated.
constexpr std::string_view kProtocol = "chat-completions";

}  // namespace

bool asks_for_chat_websocket(const wire::RequestHead& head) {
  return head.path() == "/v1/chat/completions" && wire::asks_for_websocket(head);
}

std::expected<WebsocketUpgrade, UpgradeRefused> read_upgrade(const wire::RequestHead& head,
                                                             std::string_view key,
                                                             std::string_view request_id) {
  const wire::WebsocketOpening opening = wire::read_websocket_opening(head);
  if (opening.status != 101) return std::unexpected(UpgradeRefused{opening.status, opening.reason});
  WebsocketUpgrade upgrade;
  upgrade.reply = fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
      "sec-websocket-accept: {}\r\nx-request-id: {}\r\n",
      wire::websocket_accept(opening.key), request_id);
  if (wire::offers_protocol(head.fields, kProtocol)) {
    upgrade.reply.append("sec-websocket-protocol: ").append(kProtocol).append("\r\n");
  }
  upgrade.reply.append("\r\n");
  upgrade.key = Secret(std::string(key));
  upgrade.header_lines = relay::forwarded_header_lines(head.fields, model::Dialect::OpenAiChat);
  return upgrade;
}

}  // namespace qq::downstream
