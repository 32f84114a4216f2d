// Which key did the client present? Reads the headers in which clients of the OpenAI, Azure, Anthropic and
// Gemini dialects carry it:
//
//   Authorization: Bearer <key>      x-api-key: <key>      api-key: <key>      x-goog-api-key: <key>
//
// or, opening a WebSocket, in a subprotocol (browsers can set no header there).
//
// Pure, no allocation on success; the results are views into the arguments. A key is one or more visible
// ASCII characters, which is wider than RFC 6750's b68token: operators' own strings work too. Messages never
// repeat any part of a header.
//
// Source: RFC 6750 §2.1, RFC 9110 §11.1 (schemes are case-insensitive).
#pragma once
#include <optional>
#include <string_view>

#include "base/result.h"

namespace qq::admission {

// The key of an Authorization value. Errors: Unauthorized, if the scheme is not Bearer, the key is missing or
// it is not one word of visible ASCII.
Result<std::string_view> parse_bearer(std::string_view authorization);

// Header values, nothing where the header is absent. Whoever fills this in refuses a request that repeats
// one.
struct KeyHeaders {
  std::optional<std::string_view> authorization;
  std::optional<std::string_view> x_api_key;
  std::optional<std::string_view> api_key;
  std::optional<std::string_view> x_goog_api_key;
  std::optional<std::string_view> subprotocol;  // without its prefix
};

// The presented key: of Authorization if its scheme is Bearer, else x-api-key, else api-key, else
// x-goog-api-key, else the subprotocol's. Another scheme in Authorization (a proxy's own Basic, say) gives
// way to the others, but is an error if it stands alone. Errors: Unauthorized.
Result<std::string_view> presented_key(const KeyHeaders& headers);

}  // namespace qq::admission
