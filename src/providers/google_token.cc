#include "providers/google_token.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "providers/masking.h"
#include "providers/percent.h"
#include "wire/http_head.h"
#include "wire/json_text.h"
#include "wire/json_writer.h"

namespace qq::providers {
namespace {

constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr std::string_view kGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::string_view kUsualTokenUri = "https://oauth2.googleapis.com/token";
constexpr std::chrono::seconds kAssertionLife{3600};  // the most that Google takes
constexpr std::size_t kWordsMax = 300;

Error no_account(std::string_view why) {
  return Error::gateway(ErrorKind::Config, "the service account's key " + std::string(why));
}

std::string text_at(wire::JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && found->is_string() ? found->string() : std::string();
}

// The endpoint's refusals that concern the account. Others are its own trouble.
bool is_refusal(int status, std::string_view code) noexcept {
  if (status >= 500 || status == 429 || status == 408) return false;
  return status == 401 || status == 403 || code == "invalid_grant" || code == "invalid_client" ||
         code == "unauthorized_client" || code == "access_denied" || code == "invalid_scope" ||
         code == "account_not_found";
}

Error refused(int status, wire::JsonValue reply) {
  const std::string code = text_at(reply, "error");
  std::string words = mask_keys(text_at(reply, "error_description")).substr(0, kWordsMax);
  if (words.empty())
    words = code.empty() ? "status " + std::to_string(status) : mask_keys(code).substr(0, kWordsMax);
  ErrorKind kind = ErrorKind::ServerError;
  if (is_refusal(status, code)) {
    kind = ErrorKind::CredentialDead;
  } else if (status == 429) {
    kind = ErrorKind::RateLimited;
  } else if (status == 503) {
    kind = ErrorKind::Overloaded;
  }
  Error error = Error::upstream(kind, AttemptPhase::NotSent,
                                kind == ErrorKind::CredentialDead
                                    ? "Google gives the service account no token: " + words
                                    : "Google's token endpoint gave no token: " + words);
  error.upstream_status = static_cast<std::uint16_t>(std::clamp(status, 0, 999));
  return error;
}

}  // namespace

Result<ServiceAccount> parse_service_account(std::string_view json) {
  if (wire::check_json(json))
    return fail(no_account("is no JSON document; take the whole file that Google gave"));
  const wire::JsonValue document(json);
  if (!document.is_object()) return fail(no_account("is no JSON object"));
  if (const std::string type = text_at(document, "type"); type != "service_account") {
    return fail(no_account("has another `type` than service_account, the only one that is taken"));
  }
  const std::string email = text_at(document, "client_email");
  if (email.empty()) return fail(no_account("has no `client_email`"));
  auto key = RsaKey::parse(text_at(document, "private_key"));
  if (!key) return fail(no_account("has a `private_key` that " + key.error().message));
  std::string uri = text_at(document, "token_uri");
  if (uri.empty()) uri = kUsualTokenUri;
  return ServiceAccount{email, std::move(uri), text_at(document, "private_key_id"), *std::move(key)};
}

Result<std::string> token_request_body(const ServiceAccount& account, WallTime now) {
  std::string head;
  wire::JsonWriter head_json(head);
  head_json.begin_object().member("alg", "RS256").member("typ", "JWT");
  if (!account.key_id.empty()) head_json.member("kid", std::string_view(account.key_id));
  head_json.end_object();
  const auto issued = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch();
  std::string claims;
  wire::JsonWriter claims_json(claims);
  claims_json.begin_object()
      .member("iss", std::string_view(account.client_email))
      .member("scope", kScope)
      .member("aud", std::string_view(account.token_uri))
      .member("iat", issued.count())
      .member("exp", (issued + kAssertionLife).count())
      .end_object();
  std::string assertion = to_base64url(head) + "." + to_base64url(claims);
  QQ_TRY(const std::string signature, account.key.sign_sha256(assertion));
  assertion += "." + to_base64url(signature);
  return "grant_type=" + percent_encoded(kGrant) + "&assertion=" + assertion;
}

Result<GoogleToken> parse_token_reply(int status, std::string_view body) {
  if (wire::check_json(body)) {
    if (status >= 500 || status == 429) return fail(refused(status, wire::JsonValue("{}")));
    Error error = Error::upstream(ErrorKind::BadContentType, AttemptPhase::NotSent,
                                  "what answers at the service account's `token_uri` is no token endpoint");
    error.upstream_status = static_cast<std::uint16_t>(std::clamp(status, 0, 999));
    return fail(std::move(error));
  }
  const wire::JsonValue reply(body);
  if (status != 200) return fail(refused(status, reply));
  GoogleToken token;
  std::string text = text_at(reply, "access_token");
  // It becomes a header line.
  if (text.empty() || !wire::is_safe_field_value(text)) return fail(refused(status, reply));
  token.token = Secret(std::move(text));
  const auto seconds = reply.member("expires_in");
  constexpr std::int64_t kDay = 86'400;
  token.expires_in =
      std::chrono::seconds(std::clamp<std::int64_t>(seconds ? seconds->integer().value_or(0) : 0, 0, kDay));
  return token;
}

}  // namespace qq::providers
