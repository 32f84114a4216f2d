#include "relay/client_words.h"

#include <fmt/format.h>

#include "dialects/openai/errors.h"

namespace qq::relay {
namespace {

// What a loop says that has no descriptor for a connection; others lack room for something else.
constexpr std::string_view kCannotConnect = "cannot connect";

std::string_view why_unconnected(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::DnsFailed: return "its name cannot be resolved";
    case ErrorKind::ConnectFailed: return "it cannot be connected to";
    case ErrorKind::ConnectTimeout: return "connecting to it took too long";
    case ErrorKind::TlsFailed: return "the TLS handshake with it failed";
    case ErrorKind::EarlyClose: return "it closed the connection in the TLS handshake";
    case ErrorKind::EgressDenied: return "its address may not be asked from here";
    default: return {};
  }
}

}  // namespace

Error without_addresses(Error error, std::string_view provider) {
  if (error.phase != AttemptPhase::NotSent) return error;
  if (const std::string_view why = why_unconnected(error.kind); !why.empty()) {
    error.message = fmt::format("the provider `{}` cannot be reached: {}", provider, why);
  } else if (error.kind == ErrorKind::Saturated && error.message.starts_with(kCannotConnect)) {
    error.message = "this gateway has no room for another connection to a provider; try again shortly";
  }
  return error;
}

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
