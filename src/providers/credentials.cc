#include "providers/credentials.h"

#include "base/text.h"
#include "providers/google_token.h"
#include "providers/sigv4.h"
#include "wire/http_head.h"

namespace qq::providers {
namespace {

Error bad_credential(std::string_view why) {
  return Error::gateway(ErrorKind::Config, std::string(why));
}

bool is_json_document(std::string_view credential) noexcept {
  return trimmed(credential).starts_with('{');
}

std::string header_line(std::string_view name, std::string_view key) {
  std::string line(name);
  line.append(key).append("\r\n");
  return line;
}

std::string header_lines_of(AuthForm form, std::string_view key) {
  switch (form) {
    case AuthForm::ApiKeyHeader: return header_line("api-key: ", key);
    case AuthForm::XApiKey: return header_line("x-api-key: ", key);
    case AuthForm::XApiKeyAndBearer:
      return header_line("x-api-key: ", key) + header_line("authorization: Bearer ", key);
    case AuthForm::XGoogApiKey: return header_line("x-goog-api-key: ", key);
    case AuthForm::Bearer:
    case AuthForm::AwsKeys: return header_line("authorization: Bearer ", key);
    case AuthForm::GoogleAccount:
    case AuthForm::None: return {};
  }
  return {};
}

}  // namespace

Result<> check_credential(const ProviderKind& kind, const Secret& credential) {
  if (kind.auth == AuthForm::None || credential.empty()) return {};
  const std::string_view text = credential.reveal();
  if (kind.auth == AuthForm::GoogleAccount) {
    QQ_TRY([[maybe_unused]] const auto account, parse_service_account(text));
    return {};
  }
  if (is_json_document(text)) {
    return fail(bad_credential("is a JSON document, and this kind of provider takes a key"));
  }
  if (!wire::is_safe_field_value(text)) {
    return fail(bad_credential(
        "holds a line end or a control byte; is it read from a file with more than one line?"));
  }
  if (kind.auth == AuthForm::AwsKeys && text.contains(':') && !parse_aws_credential(text)) {
    return fail(
        bad_credential("is neither ACCESS_KEY_ID:SECRET_ACCESS_KEY, with :SESSION_TOKEN behind it if there "
                       "is one, nor a Bedrock API "
                       "key"));
  }
  return {};
}

void add_credential(const ProviderKind& kind, const ProviderConfig& provider, const Secret& credential,
                    model::Target& target) {
  if (kind.auth == AuthForm::None || credential.empty()) return;
  if (kind.auth == AuthForm::GoogleAccount) {
    target.request_auth = model::RequestAuth::GoogleToken;
    target.signing_credential = credential;
  } else if (kind.auth == AuthForm::AwsKeys && parse_aws_credential(credential.reveal())) {
    target.request_auth = model::RequestAuth::AwsSigV4;
    target.signing_credential = credential;
    target.signing_region = provider.region;
  } else {
    target.auth_header_lines = Secret(header_lines_of(kind.auth, credential.reveal()));
  }
}

}  // namespace qq::providers
