#include "relay/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "admission/bearer.h"
#include "relay/called.h"
#include "wire/websocket_handshake.h"

namespace qq::relay {
namespace {

// What a provider may need to see of the client's head. Never credentials, cookies, organisation headers
// (they belong to our account there), forwarding chains or hop-by-hop fields.
constexpr std::array<std::string_view, 2> kForwarded = {"openai-beta", "accept-language"};
constexpr std::array<std::string_view, 3> kForwardedToAnthropic = {"anthropic-beta", "anthropic-version",
                                                                   "accept-language"};

// Of the subprotocol that carries a browser's key, in front of it; OpenAI's Realtime has it.
constexpr std::string_view kKeyProtocol = "openai-insecure-api-key.";

// Takes `value`; false if the header came before.
bool take_once(std::optional<std::string_view>& into, std::string_view value) noexcept {
  if (into) return false;
  into = value;
  return true;
}

// One of the headers that carry a key; false if it is repeated: which of two keys is meant must not depend on
// the reader.
bool take_key_header(const wire::Field& field, admission::KeyHeaders& headers) noexcept {
  switch (field.name.size()) {
    case 7: return !wire::iequals(field.name, "api-key") || take_once(headers.api_key, field.value);
    case 9: return !wire::iequals(field.name, "x-api-key") || take_once(headers.x_api_key, field.value);
    case 13:
      return !wire::iequals(field.name, "authorization") || take_once(headers.authorization, field.value);
    case 14:
      return !wire::iequals(field.name, "x-goog-api-key") || take_once(headers.x_goog_api_key, field.value);
    default: return true;
  }
}

// `key=…` of a query, as Gemini's older clients send it; false if it is repeated. Keys of ours need no
// percent-encoding.
bool take_key_in_query(std::string_view query, admission::KeyHeaders& headers) noexcept {
  std::optional<std::string_view> key;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    if (pair.starts_with("key=") && !take_once(key, pair.substr(4))) return false;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  if (!headers.x_goog_api_key) headers.x_goog_api_key = key;
  return true;
}

Error repeated_key(std::string_view what) {
  return Error::client(ErrorKind::InvalidRequest,
                       fmt::format("the request repeats a {} that carries its key; send it once", what));
}

}  // namespace

Result<std::string_view> presented_key(const wire::RequestHead& head) {
  admission::KeyHeaders headers;
  for (const wire::Field& field : head.fields.all()) {
    if (!take_key_header(field, headers)) return fail(repeated_key("header"));
  }
  if (dialect_of_path(head.path()) == model::Dialect::Gemini && !take_key_in_query(head.query(), headers))
    return fail(repeated_key("query parameter"));
  if (wire::asks_for_websocket(head)) {
    const wire::OfferedProtocols offered = wire::offered_protocols(head.fields, kKeyProtocol);
    if (offered.count > 1) return fail(repeated_key("header"));
    if (offered.count == 1) headers.subprotocol = offered.first.substr(kKeyProtocol.size());
  }
  return admission::presented_key(headers);
}

Result<std::reference_wrapper<const admission::KeyEntry>> known_key(const Snapshot& snapshot,
                                                                    std::string_view presented) {
  const admission::KeyEntry* entry = snapshot.keys.find(presented);
  if (entry == nullptr) {
    return fail(Error::client(ErrorKind::Unauthorized,
                              "this API key is not known here; use a key that this gateway issued"));
  }
  return *entry;
}

Result<std::reference_wrapper<const admission::KeyEntry>> authenticate(const Snapshot& snapshot,
                                                                       const wire::RequestHead& head) {
  QQ_TRY(const std::string_view presented, presented_key(head));
  return known_key(snapshot, presented);
}

std::string forwarded_header_lines(const wire::Fields& fields, model::Dialect dialect) {
  const bool is_anthropic = dialect == model::Dialect::Anthropic;
  const std::span<const std::string_view> names =
      is_anthropic ? std::span<const std::string_view>(kForwardedToAnthropic) : std::span(kForwarded);
  std::string lines;
  for (const wire::Field& field : fields.all()) {
    for (const std::string_view name : names) {
      if (field.name.size() == name.size() && wire::iequals(field.name, name) &&
          wire::is_safe_field_value(field.value)) {
        lines.append(name).append(": ").append(field.value).append("\r\n");
      }
    }
  }
  return lines;
}

}  // namespace qq::relay
