#include "downstream/realtime_opening.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"
#include "base/utf8_cut.h"
#include "wire/utf8.h"
#include "wire/websocket_handshake.h"

namespace qq::downstream {
namespace {

constexpr std::string_view kSubprotocol = "realtime";
constexpr std::size_t kNameShownMax = 100;

// What may go into the provider's URL as it is.
bool is_word(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Error bad_query(std::string text, std::string_view name) {
  return Error::client(ErrorKind::InvalidRequest, std::move(text), std::string(name));
}

Result<> take_parameter(std::string_view name, std::string_view value, RealtimeOpening& opening) {
  if (name == "model") {
    auto decoded = percent_decoded(value);
    if (!opening.model.empty()) return fail(bad_query("the query repeats `model`; send it once", "model"));
    if (!decoded || decoded->empty() || !wire::is_utf8(*decoded)) {
      return fail(bad_query("the query's `model` must be the percent-encoded name of a model", "model"));
    }
    opening.model = *std::move(decoded);
    return {};
  }
  if (name == "intent" && is_word(value)) {
    opening.more_query = fmt::format("&intent={}", value);
    return {};
  }
  if (name == "call_id") {
    return fail(bad_query("calls are not known here; open a connection of its own with `model`", name));
  }
  return fail(bad_query(fmt::format("the query's `{}` is not understood here; send `model`, and `intent` "
                                    "where the provider wants it",
                                    cut_utf8(wire::is_utf8(name) ? name : "parameter", kNameShownMax)),
                        {}));
}

}  // namespace

Result<RealtimeOpening> read_realtime_opening(const wire::RequestHead& head, std::uint16_t& status) {
  if (!wire::asks_for_websocket(head)) {
    status = 426;
    return fail(Error::client(ErrorKind::InvalidRequest,
                              "Realtime is spoken over WebSocket only; ask for the upgrade"));
  }
  const wire::WebsocketOpening asked = wire::read_websocket_opening(head);
  if (asked.status != 101) {
    status = static_cast<std::uint16_t>(asked.status);
    return fail(Error::client(ErrorKind::InvalidRequest, asked.reason));
  }
  RealtimeOpening opening;
  std::string_view query = head.query();
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (!pair.empty()) QQ_CHECK(take_parameter(pair.substr(0, equals), value, opening));
  }
  if (opening.model.empty()) {
    return fail(bad_query("the query lacks `model`; ask for /v1/realtime?model=NAME", "model"));
  }
  opening.reply_lines =
      fmt::format("upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {}\r\n",
                  wire::websocket_accept(asked.key));
  if (wire::offers_protocol(head.fields, kSubprotocol)) {
    opening.reply_lines.append("sec-websocket-protocol: ").append(kSubprotocol).append("\r\n");
  }
  return opening;
}

}  // namespace qq::downstream
