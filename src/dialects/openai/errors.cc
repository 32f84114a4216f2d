#include "dialects/openai/errors.h"

#include "wire/json.h"

namespace qq::dialects::openai {
namespace {

// How a kind of failure is called towards an OpenAI client. `message` replaces ours where the true one is
// about our own standing with a provider and nothing the caller can act on.
struct Form {
  int status;
  std::string_view type;
  std::string_view code;  // empty: null
  std::string_view message{};
};

constexpr std::string_view kInvalid = "invalid_request_error";
constexpr std::string_view kServer = "server_error";
constexpr std::string_view kNobody =
    "no provider of this model can be used at the moment; please try again later";
constexpr std::string_view kLimits =
    "this model is at its rate limits at the moment; please slow down and try again";

Form form_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::InvalidRequest: return {400, kInvalid, ""};
    case ErrorKind::Unauthorized: return {401, kInvalid, "invalid_api_key"};
    case ErrorKind::Forbidden: return {403, kInvalid, "permission_denied"};
    case ErrorKind::NotFound: return {404, kInvalid, "unknown_url"};
    case ErrorKind::MethodNotAllowed: return {405, kInvalid, "method_not_supported"};
    case ErrorKind::PayloadTooLarge: return {413, kInvalid, "request_too_large"};
    case ErrorKind::RequestTimeout: return {408, kInvalid, "request_timeout"};
    case ErrorKind::ClientGone: return {499, kInvalid, "client_gone"};
    case ErrorKind::ClientStalled: return {499, kInvalid, "client_stalled"};

    case ErrorKind::DnsFailed: return {503, kServer, "upstream_dns"};
    case ErrorKind::ConnectFailed: return {503, kServer, "upstream_connect_failed"};
    case ErrorKind::ConnectTimeout: return {504, kServer, "upstream_connect_timeout"};
    case ErrorKind::TlsFailed: return {502, kServer, "upstream_tls"};
    case ErrorKind::EgressDenied: return {503, kServer, "upstream_address_denied"};
    case ErrorKind::EarlyClose: return {502, kServer, "upstream_early_close"};
    case ErrorKind::Reset: return {502, kServer, "upstream_reset"};
    case ErrorKind::SendTimeout: return {504, kServer, "upstream_send_timeout"};
    case ErrorKind::FirstByteTimeout: return {504, kServer, "upstream_first_byte_timeout"};
    case ErrorKind::FirstContentTimeout: return {504, kServer, "upstream_first_content_timeout"};
    case ErrorKind::EventGapTimeout: return {504, kServer, "upstream_event_gap_timeout"};
    case ErrorKind::TotalTimeout: return {504, kServer, "request_deadline"};

    case ErrorKind::RateLimited: return {429, "requests", "rate_limit_exceeded", kLimits};
    case ErrorKind::QuotaExhausted: return {503, kServer, "upstream_unavailable", kNobody};
    case ErrorKind::CredentialDead: return {503, kServer, "upstream_unavailable", kNobody};
    case ErrorKind::ModelMissing: return {404, kInvalid, "model_not_found"};
    case ErrorKind::Refused: return {400, kInvalid, ""};
    case ErrorKind::Overloaded: return {503, kServer, "upstream_overloaded"};
    case ErrorKind::ServerError: return {502, kServer, "upstream_server_error"};

    case ErrorKind::BadFrame: return {502, kServer, "upstream_bad_frame"};
    case ErrorKind::BadContentType: return {502, kServer, "upstream_bad_content_type"};
    case ErrorKind::DecodeFailed: return {502, kServer, "upstream_decode_failed"};
    case ErrorKind::BodyCut: return {502, kServer, "upstream_body_cut"};
    case ErrorKind::StreamCut: return {502, kServer, "upstream_stream_cut"};
    case ErrorKind::StreamError: return {502, kServer, "upstream_stream_error"};
    case ErrorKind::EventTooBig: return {502, kServer, "upstream_event_too_big"};
    case ErrorKind::EmptyReply: return {502, kServer, "upstream_empty_reply"};
    case ErrorKind::BadJson: return {502, kServer, "upstream_bad_json"};

    case ErrorKind::NoTarget: return {503, kServer, "no_target_available"};
    case ErrorKind::Saturated: return {503, kServer, "gateway_saturated"};
    case ErrorKind::ShuttingDown: return {503, kServer, "gateway_shutting_down"};
    case ErrorKind::Cancelled: return {499, kInvalid, "cancelled"};
    case ErrorKind::Config: return {500, kServer, "gateway_misconfigured"};
    case ErrorKind::Internal: return {500, kServer, "internal_error"};
  }
  return {500, kServer, "internal_error"};
}

// Limits too: the provider names our organisation, its limits and how much of them is used.
constexpr bool is_about_our_account(ErrorKind kind) noexcept {
  return kind == ErrorKind::QuotaExhausted || kind == ErrorKind::CredentialDead ||
         kind == ErrorKind::RateLimited;
}

// What the error says in the client's words, chosen once for all three forms.
struct Words {
  std::string_view type;
  std::string_view code;
  std::string message;
  std::string_view param;
};

Words words_of(const Error& error, std::string_view request_id) {
  const Form form = form_of(error.kind);
  // A tenant's own limits are theirs to know about; a provider's account is ours.
  const bool hidden = is_about_our_account(error.kind) && error.origin == ErrorOrigin::Upstream;
  Words words{form.type, form.code, {}, error.param};
  if (!hidden) {
    if (!error.type.empty()) words.type = error.type;
    if (!error.code.empty()) words.code = error.code;
    if (error.kind == ErrorKind::NotFound && error.code.empty() && error.param == "model") {
      words.code = "model_not_found";
    }
    if (error.kind == ErrorKind::QuotaExhausted && error.code.empty()) words.code = "insufficient_quota";
    words.message = error.message;
  } else {
    words.message = form.message;
  }
  if (words.message.empty()) words.message = to_string(error.kind);
  if (status_of(error) >= 500 && !request_id.empty()) {
    words.message.append(" (request ").append(request_id).append(")");
  }
  return words;
}

void append_string_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    wire::append_json_string(out, text);
  }
}

// "message":…,"type":…,"param":…,"code":…
void append_members(std::string& out, const Words& words) {
  out += "\"message\":";
  wire::append_json_string(out, words.message);
  out += ",\"type\":";
  append_string_or_null(out, words.type);
  out += ",\"param\":";
  append_string_or_null(out, words.param);
  out += ",\"code\":";
  append_string_or_null(out, words.code);
}

// A provider's own error object goes on as it is: it holds what no reader here knows of (Azure's
// innererror, Groq's failed_generation, OpenRouter's metadata). It must carry a message, which SDKs show; the
// other three members that they read are added where it has none of them.
bool hands_on_object(const Error& error) noexcept {
  if (error.object.empty() || is_about_our_account(error.kind)) return false;
  const auto message = wire::JsonValue(error.object).member("message");
  return message && message->is_string() && !message->is_blank_string();
}

std::string error_document(const Error& error, std::string_view request_id) {
  std::string out = "{\"error\":";
  if (hands_on_object(error)) {
    const wire::JsonValue object(error.object);
    out.append(error.object, 0, error.object.rfind('}'));
    const Words words = words_of(error, request_id);
    const auto add = [&](std::string_view name, std::string_view value) {
      if (object.member(name)) return;
      out.append(",\"").append(name).append("\":");
      append_string_or_null(out, value);
    };
    add("type", words.type);
    add("param", words.param);
    add("code", words.code);
    out += '}';
  } else {
    out += '{';
    append_members(out, words_of(error, request_id));
    out += '}';
  }
  out += '}';
  return out;
}

// One line, so that it may stand behind "data: ".
std::string one_line(std::string json) {
  // Between tokens only: inside strings JSON has no raw line ends.
  for (char& c : json) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return json;
}

}  // namespace

int status_of(const Error& error) noexcept {
  const int upstream = error.upstream_status;
  switch (error.kind) {
    case ErrorKind::Refused:
      // 401, 402 and 407 would send the caller looking at their own key or money.
      if (upstream == 401 || upstream == 402 || upstream == 407) return 400;
      // A wait changes nothing: what was asked for is more than a limit.
      if (upstream == 429) return 413;
      return upstream >= 400 && upstream < 500 ? upstream : 400;
    case ErrorKind::ModelMissing: return upstream == 400 ? 400 : 404;
    case ErrorKind::ServerError: return upstream == 504 ? 504 : 502;
    case ErrorKind::QuotaExhausted: return error.origin == ErrorOrigin::Upstream ? 503 : 429;
    default: return form_of(error.kind).status;
  }
}

EncodedError encode_error(const Error& error, std::string_view request_id) {
  return {status_of(error), error_document(error, request_id)};
}

std::string encode_stream_error(const Error& error, model::Endpoint endpoint, std::string_view request_id) {
  std::string out;
  if (endpoint == model::Endpoint::Responses) {
    out = "event: error\ndata: {\"type\":\"error\",";
    const Words words = words_of(error, request_id);
    out += "\"code\":";
    append_string_or_null(out, words.code);
    out += ",\"message\":";
    wire::append_json_string(out, words.message);
    out += ",\"param\":";
    append_string_or_null(out, words.param);
    out += '}';
  } else {
    out = "data: ";
    out += one_line(error_document(error, request_id));
  }
  out += "\n\n";
  return out;
}

}  // namespace qq::dialects::openai
