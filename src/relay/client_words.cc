#include "relay/client_words.h"

#include "dialects/openai/errors.h"

namespace qq::relay {

dialects::EncodedError encode_error(model::Dialect dialect, const Error& error, std::string_view request_id) {
  return dialects::client_dialect(dialect)->encode_error(error, request_id);
}

void encode_stream_error(model::Endpoint endpoint, const Error& error, std::string_view request_id,
                         std::string& out) {
  dialects::client_dialect(model::dialect_of(endpoint))->encode_stream_error(error, request_id, out);
}

std::string_view heartbeat_of(model::Endpoint endpoint, bool array_stream) noexcept {
  if (array_stream) return "\n";  // white space between two elements, and in front of the first
  return dialects::client_dialect(model::dialect_of(endpoint))->heartbeat();
}

std::string_view stream_type_of(bool array_stream) noexcept {
  return array_stream ? "application/json" : "text/event-stream; charset=utf-8";
}

}  // namespace qq::relay
