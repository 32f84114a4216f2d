// Our errors as Anthropic's clients read them: {"type":"error","error":{"type","message"},"request_id"}.
// Status by kind as for OpenAI's clients (openai/errors.h), but that an overloaded provider is 529, which the
// SDK and Claude Code wait for.
#include "dialects/openai/errors.h"

#include <array>

#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"

namespace qq::dialects::anthropic {
namespace {

struct TypeOfStatus {
  int status;
  std::string_view type;
};
// docs.claude.com/en/api/errors
constexpr std::array<TypeOfStatus, 10> kTypes{{
    {400, "invalid_request_error"},
    {401, "authentication_error"},
    {402, "billing_error"},
    {403, "permission_error"},
    {404, "not_found_error"},
    {413, "request_too_large"},
    {429, "rate_limit_error"},
    {500, "api_error"},
    {504, "timeout_error"},
    {529, "overloaded_error"},
}};
constexpr int kOverloaded = 529;

bool is_type(std::string_view word) noexcept {
  return std::ranges::find(kTypes, word, &TypeOfStatus::type) != kTypes.end();
}

// Nobody can be asked at the moment, whoever is to blame.
bool is_for_later(const Error& error) noexcept {
  switch (error.kind) {
    case ErrorKind::Overloaded:
    case ErrorKind::NoTarget:
    case ErrorKind::Saturated:
    case ErrorKind::ShuttingDown: return true;
    case ErrorKind::CredentialDead: return true;
    case ErrorKind::QuotaExhausted: return error.origin == ErrorOrigin::Upstream;
    default: return false;
  }
}

bool is_hidden(const Error& error) noexcept {
  return error.origin == ErrorOrigin::Upstream &&
         (error.kind == ErrorKind::QuotaExhausted || error.kind == ErrorKind::CredentialDead);
}

int status_of(const Error& error) noexcept {
  return error.kind == ErrorKind::Overloaded ? kOverloaded : openai::status_of(error);
}

std::string_view type_of(const Error& error) noexcept {
  if (!is_hidden(error) && is_type(error.type)) return error.type;
  if (is_for_later(error)) return "overloaded_error";
  const int status = status_of(error);
  for (const TypeOfStatus& each : kTypes) {
    if (each.status == status) return each.type;
  }
  return status < 500 ? "invalid_request_error" : "api_error";
}

bool is_too_long(const Error& error) noexcept {
  return error.code == "context_length_exceeded" || error.type == "exceed_context_size_error";
}

std::string message_of(const Error& error) {
  if (is_hidden(error)) return "no provider of this model can be used at the moment; please try again later";
  std::string out = error.message.empty() ? std::string(to_string(error.kind)) : error.message;
  // Claude Code shortens the conversation when it reads these words.
  if (is_too_long(error) && out.find("prompt is too long") == std::string::npos)
    return "prompt is too long: " + out;
  if (!error.param.empty() && out.find(error.param) == std::string::npos) return error.param + ": " + out;
  return out;
}

// A provider's own error object goes on as it is if a client of this dialect can read it.
bool hands_on_object(const Error& error) {
  if (error.object.empty() || is_hidden(error) || is_too_long(error)) return false;
  const wire::JsonValue object(error.object);
  const auto type = object.member("type");
  const auto message = object.member("message");
  return type && is_type(type->raw_string()) && message && message->is_string() &&
         !message->is_blank_string();
}

void append_document(const Error& error, std::string_view request_id, std::string& out) {
  wire::JsonWriter json(out);
  json.begin_object().member("type", "error").key("error");
  if (hands_on_object(error)) {
    json.raw(one_line(error.object));
  } else {
    json.begin_object().member("type", type_of(error)).member("message", message_of(error)).end_object();
  }
  if (!request_id.empty()) json.member("request_id", request_id);
  json.end_object();
}

}  // namespace

EncodedError encode_error(const Error& error, std::string_view request_id) {
  EncodedError out{status_of(error), {}};
  append_document(error, request_id, out.body);
  return out;
}

void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) {
  out += "event: error\ndata: ";
  append_document(error, request_id, out);
  out += "\n\n";
}

}  // namespace qq::dialects::anthropic
