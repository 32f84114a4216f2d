// The opening of a Realtime connection: GET /v1/realtime?model=NAME that asks for a WebSocket. A browser
// offers the subprotocol `realtime` beside the one that carries its key.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/http_head.h"

namespace qq::downstream {

// Also for log lines and metrics.
inline constexpr std::string_view kRealtimePath = "/v1/realtime";

// What an opening leaves behind of its head.
struct RealtimeOpening {
  std::string model;        // as asked for
  std::string more_query;   // to go on to the provider
  std::string reply_lines;  // the 101 without what the provider's answer adds to it
};

// Of a GET that asks for an upgrade, well or badly. `status`: instead of that of the error's kind, unless 0.
// Errors: InvalidRequest.
Result<RealtimeOpening> read_realtime_opening(const wire::RequestHead& head, std::uint16_t& status);

}  // namespace qq::downstream
