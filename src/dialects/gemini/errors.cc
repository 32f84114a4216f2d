#include "dialects/gemini/errors.h"

#include <algorithm>

#include "dialects/openai/errors.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {
namespace {

constexpr std::string_view kNobody =
    "no provider of this model can be used at the moment; please try again later";

// The canonical code that goes with a status (google/rpc/code.proto).
std::string_view canonical(int status) noexcept {
  switch (status) {
    case 401: return "UNAUTHENTICATED";
    case 403: return "PERMISSION_DENIED";
    case 404: return "NOT_FOUND";
    case 405: return "UNIMPLEMENTED";
    case 409: return "ABORTED";
    case 429: return "RESOURCE_EXHAUSTED";
    case 499: return "CANCELLED";
    case 408:
    case 504: return "DEADLINE_EXCEEDED";
    case 502:
    case 503: return "UNAVAILABLE";
    default: return status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
  }
}

// A provider's account is not the caller's to know about.
bool is_hidden(const Error& error) noexcept {
  return error.origin == ErrorOrigin::Upstream &&
         (error.kind == ErrorKind::QuotaExhausted || error.kind == ErrorKind::CredentialDead);
}

std::string message_of(const Error& error, int status, std::string_view request_id) {
  std::string message = is_hidden(error) ? std::string(kNobody) : error.message;
  if (message.empty()) message = to_string(error.kind);
  if (status >= 500 && !request_id.empty()) message.append(" (request ").append(request_id).append(")");
  return message;
}

// Google's own object says more than we know of: details of quotas, links, reasons.
bool hands_on_object(const Error& error) noexcept {
  if (error.object.empty() || is_hidden(error)) return false;
  const wire::JsonValue object(error.object);
  const auto status = object.member("status");
  const auto code = object.member("code");
  const auto message = object.member("message");
  return status && status->is_string() && code && code->integer() && message && message->is_string() &&
         !message->is_blank_string();
}

void write_details(wire::JsonWriter& json, const Error& error) {
  const bool names_field = !error.param.empty() && error.origin == ErrorOrigin::Client;
  const bool unknown_key = error.kind == ErrorKind::Unauthorized;
  if (!names_field && !unknown_key && !error.retry_after) return;
  json.key("details").begin_array();
  if (unknown_key) {
    json.begin_object().member("@type", "type.googleapis.com/google.rpc.ErrorInfo");
    json.member("reason", "API_KEY_INVALID").member("domain", "googleapis.com").end_object();
  }
  if (names_field) {
    json.begin_object().member("@type", "type.googleapis.com/google.rpc.BadRequest");
    json.key("fieldViolations").begin_array().begin_object().member("field", error.param);
    json.member("description", error.message).end_object().end_array().end_object();
  }
  if (error.retry_after) {
    const std::int64_t seconds = (std::max<std::int64_t>(error.retry_after->count(), 0) + 999) / 1000;
    json.begin_object().member("@type", "type.googleapis.com/google.rpc.RetryInfo");
    json.member("retryDelay", std::to_string(seconds) + "s").end_object();
  }
  json.end_array();
}

std::string document(const Error& error, int status, std::string_view request_id) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object();
  if (hands_on_object(error)) {
    json.raw_member("error", error.object);
  } else {
    json.key("error").begin_object().member("code", status);
    json.member("message", message_of(error, status, request_id)).member("status", canonical(status));
    write_details(json, error);
    json.end_object();
  }
  json.end_object();
  return out;
}

}  // namespace

EncodedError encode_error(const Error& error, std::string_view request_id) {
  const int status = openai::status_of(error);
  return {status, document(error, status, request_id)};
}

void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) {
  std::string json = document(error, openai::status_of(error), request_id);
  // An empty line in it would end it for readers of events.
  std::ranges::replace_if(json, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  out.append(json).append(1, '\n');
}

}  // namespace qq::dialects::gemini
