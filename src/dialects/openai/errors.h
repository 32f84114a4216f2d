// Our errors as OpenAI clients read them: {"error":{"message","type","param","code"}}.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/endpoint.h"

namespace qq::dialects::openai {

struct EncodedError {
  int status = 500;
  std::string body;
};

// Status by kind: 400 invalid, 401 unauthorized (the client's own key only), 403, 404, 405, 408, 413, 429,
// 502 for what a provider broke, 503 when nobody can be asked (never 401 for our own credential's fault),
// 504 for timeouts, 500 for us. An upstream's own 4xx (Refused) keeps its status.
EncodedError encode_error(const Error& error, std::string_view request_id);
int status_of(const Error& error) noexcept;

// The in-band error after a stream has begun, as complete SSE bytes: chat and completions
// `data: {"error":{...}}`, responses `event: error` with the flat fields. Never followed by [DONE].
std::string encode_stream_error(const Error& error, model::Endpoint endpoint, std::string_view request_id);

// A comment that keeps a waiting client alive between events.
inline constexpr std::string_view kHeartbeat = ": keep-alive\n\n";

}  // namespace qq::dialects::openai
