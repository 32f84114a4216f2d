#include "simulator/provider/checks/check.h"

#include "base/base64.h"

namespace qq::simulator {
namespace {

VendorError unauthorized(const RequestText& request, int status, std::string message, std::string type = {}) {
  return {.status = status,
          .vendor = request.path.vendor,
          .type = std::move(type),
          .message = std::move(message)};
}

// A signature is not verified (it would need the secret), but it must be all there.
Refusal refuse_aws_head(const RequestText& request) {
  if (request.has_bearer()) return std::nullopt;  // an API key of Bedrock's
  const std::string_view signature = request.field("authorization");
  if (signature.empty())
    return unauthorized(request, 403, "Missing Authentication Token", "MissingAuthenticationTokenException");
  const auto has = [&](std::string_view part) { return signature.find(part) != std::string_view::npos; };
  if (!signature.starts_with("AWS4-HMAC-SHA256 ") || !has("Credential=") || !has("/aws4_request") ||
      !has("SignedHeaders=") || !has("Signature=")) {
    return unauthorized(
        request, 403,
        "Authorization header requires 'Credential', 'Signature' and 'SignedHeaders' parameters.",
        "IncompleteSignatureException");
  }
  if (request.field("x-amz-date").empty()) {
    return unauthorized(
        request, 403, "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
        "IncompleteSignatureException");
  }
  if (!has("host")) {
    return unauthorized(request, 403, "'Host' must be a 'SignedHeader' in the AWS Authorization.",
                        "InvalidSignatureException");
  }
  return std::nullopt;
}

Refusal refuse_google_head(const RequestText& request) {
  if (request.has_bearer()) return std::nullopt;
  if (request.path.vendor == "vertex") {
    return unauthorized(
        request, 401,
        "Request is missing required authentication credential. Expected OAuth 2 access token, "
        "login cookie or other valid authentication credential.");
  }
  if (!request.field("x-goog-api-key").empty() || !query_value(request.query, "key").empty())
    return std::nullopt;
  return unauthorized(
      request, 403,
      "Method doesn't allow unregistered callers (callers without established identity). Please "
      "use API Key or other form of API consumer identity to call this API.");
}

Refusal refuse_anthropic_head(const RequestText& request) {
  if (request.field("x-api-key").empty() && !request.has_bearer())
    return unauthorized(request, 401, "x-api-key header is required");
  if (request.field("anthropic-version").empty())
    return refused(request, "anthropic-version: header is required");
  return std::nullopt;
}

Refusal refuse_counted(const RequestText& request) {
  const std::string counted = counted_body(request.body);
  if (counted.empty())
    return refused(request, "1 validation error detected: Value at 'input' failed to satisfy constraint");
  RequestText inner = request;
  inner.path.route = Route::Messages;
  inner.body = counted;
  return refuse_messages(inner);
}

}  // namespace

std::string counted_body(std::string_view body) {
  const auto sealed = wire::JsonValue(body).at("input", "invokeModel", "body");
  const auto bytes = sealed ? from_base64(sealed->string()) : std::nullopt;
  return bytes && !wire::check_json(*bytes) ? *bytes : std::string();
}

Refusal refuse_head(const RequestText& request) {
  switch (request.path.route) {
    case Route::Messages:
    case Route::CountMessages:
      if (request.path.form == model::MessagesForm::BedrockInvoke) return refuse_aws_head(request);
      if (request.path.form == model::MessagesForm::Vertex) return refuse_google_head(request);
      return refuse_anthropic_head(request);
    case Route::EmbedContents:
    case Route::Predict:
    case Route::GenerateContent:
    case Route::CountContent: return refuse_google_head(request);
    case Route::Models:
      if (request.path.vendor == "gemini") return refuse_google_head(request);
      return std::nullopt;
    case Route::InvokeEmbed:
    case Route::Converse: return refuse_aws_head(request);
    case Route::CohereEmbed:
    case Route::CohereChat:
      if (!request.has_bearer()) return unauthorized(request, 401, "no api key supplied");
      return std::nullopt;
    default: return std::nullopt;
  }
}

Refusal refuse_body(const RequestText& request, std::string_view model, const Script& script) {
  if (!wire::JsonValue(request.body).is_object()) return std::nullopt;  // the readers say so
  switch (request.path.route) {
    case Route::CountMessages:
      if (request.path.form == model::MessagesForm::BedrockInvoke) return refuse_counted(request);
      return refuse_messages(request);
    case Route::Messages: return refuse_messages(request);
    case Route::GenerateContent: return refuse_generate_content(request, model, script);
    case Route::Converse: return refuse_converse(request);
    case Route::CohereChat: return refuse_cohere(request);
    case Route::OllamaChat: return refuse_ollama(request);
    case Route::ChatCompletions: return refuse_chat(request, script);
    case Route::Responses: return refuse_responses(request, model, script);
    default: return std::nullopt;
  }
}

}  // namespace qq::simulator
