// The opening of chat over WebSocket: what a head asks for, and the 101 that answers it.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "wire/http_head.h"

namespace qq::downstream {

// For log lines and metrics.
inline constexpr std::string_view kWebsocketPath = "/v1/chat/completions (websocket)";

// What an upgrade leaves behind of its head.
struct WebsocketUpgrade {
  std::string reply;         // the 101
  Secret key;                // as presented: each message is checked anew, for keys may be withdrawn
  std::string header_lines;  // to forward upstream
};

// Whether a head asks for this.
bool asks_for_chat_websocket(const wire::RequestHead& head);
// The upgrade of a head whose key is known, or the status and reason (a literal) of why there is none.
struct UpgradeRefused {
  int status = 400;
  const char* reason = "";
};
std::expected<WebsocketUpgrade, UpgradeRefused> read_upgrade(const wire::RequestHead& head,
                                                             std::string_view key,
                                                             std::string_view request_id);

}  // namespace qq::downstream
