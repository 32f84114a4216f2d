#include "providers/google_token.h"

#include <fakes/service_account.h>

#include "base/base64.h"

namespace qq::providers {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kIssued{1'700'000'000s + 500ms};
constexpr std::string_view kTokenUri = "https://oauth2.googleapis.com/token";

const fakes::RsaPair& rsa_pair() {
  static const fakes::RsaPair kPair;
  return kPair;
}

TEST(ServiceAccount, IsReadFromTheFileThatGoogleGives) {
  const auto account = parse_service_account(fakes::service_account_json(rsa_pair(), kTokenUri));
  ASSERT_TRUE(account) << account.error().message;
  EXPECT_EQ(account->client_email, "robot@project.example");
  EXPECT_EQ(account->token_uri, kTokenUri);
  EXPECT_EQ(account->key_id, "key-1");
}

TEST(ServiceAccount, SaysWhatIsWrongAndQuotesNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sk-secret", "no JSON document"},
      {R"(["secret"])", "no JSON object"},
      {R"({"type":"secret"})", "service_account"},
      {R"({"type":"service_account","private_key":"secret"})", "client_email"},
      {R"({"type":"service_account","client_email":"secret@x","private_key":"secret"})", "private_key"},
  };
  for (const auto& [json, words] : cases) {
    const auto account = parse_service_account(json);
    ASSERT_FALSE(account) << json;
    EXPECT_EQ(account.error().kind, ErrorKind::Config);
    EXPECT_THAT(account.error().message, ::testing::HasSubstr(words));
    EXPECT_THAT(account.error().message, ::testing::Not(::testing::HasSubstr("secret")));
  }
}

TEST(TokenRequest, IsAnAssertionThatItsKeySigns) {
  const auto account = parse_service_account(fakes::service_account_json(rsa_pair(), kTokenUri));
  ASSERT_TRUE(account);
  const auto body = token_request_body(*account, kIssued);
  ASSERT_TRUE(body);
  constexpr std::string_view kBegin =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(body->starts_with(kBegin)) << *body;
  const std::string assertion = body->substr(kBegin.size());
  const std::size_t first = assertion.find('.');
  const std::size_t last = assertion.rfind('.');
  EXPECT_EQ(from_base64url(assertion.substr(0, first)), R"({"alg":"RS256","typ":"JWT","kid":"key-1"})");
  EXPECT_EQ(from_base64url(assertion.substr(first + 1, last - first - 1)),
            R"({"iss":"robot@project.example","scope":"https://www.googleapis.com/auth/cloud-platform",)"
            R"("aud":"https://oauth2.googleapis.com/token","iat":1700000000,"exp":1700003600})");
  EXPECT_TRUE(rsa_pair().verifies(assertion.substr(0, last),
                                  from_base64url(assertion.substr(last + 1)).value_or("")));
}

TEST(TokenReply, GivesATokenAndHowLongItLasts) {
  const auto token =
      parse_token_reply(200, R"({"access_token":"ya29.abc","expires_in":3599,"token_type":"Bearer"})");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token.reveal(), "ya29.abc");
  EXPECT_EQ(token->expires_in, 3599s);
  EXPECT_EQ(parse_token_reply(200, R"({"access_token":"t","expires_in":-5})")->expires_in, 0s);
  EXPECT_EQ(parse_token_reply(200, R"({"access_token":"t"})")->expires_in, 0s);
}

TEST(TokenReply, TellsARefusedAccountFromAnEndpointInTrouble) {
  struct Case {
    int status;
    std::string_view body;
    ErrorKind kind;
  };
  const std::vector<Case> cases = {
      {400, R"({"error":"invalid_grant","error_description":"Invalid JWT Signature."})",
       ErrorKind::CredentialDead},
      {401, R"({"error":"unauthorized_client"})", ErrorKind::CredentialDead},
      {401, R"({"error":"invalid_client","error_description":"The OAuth client was not found."})",
       ErrorKind::CredentialDead},
      {403, R"({"error":"access_denied"})", ErrorKind::CredentialDead},
      {400, R"({"error":"invalid_request"})", ErrorKind::ServerError},
      {429, R"({"error":"rate_limited"})", ErrorKind::RateLimited},
      {500, R"({"error":"internal_failure"})", ErrorKind::ServerError},
      {503, "busy", ErrorKind::Overloaded},
      {404, "<html>", ErrorKind::BadContentType},
      {200, "<html>", ErrorKind::BadContentType},
      {200, "{}", ErrorKind::ServerError},
      {200, R"({"access_token":"a\r\nx: y"})", ErrorKind::ServerError},
  };
  for (const Case& each : cases) {
    const auto token = parse_token_reply(each.status, each.body);
    ASSERT_FALSE(token) << each.body;
    EXPECT_EQ(token.error().kind, each.kind) << each.status << each.body;
    EXPECT_EQ(token.error().phase, AttemptPhase::NotSent);
    EXPECT_EQ(token.error().upstream_status, each.status);
  }
  EXPECT_THAT(parse_token_reply(400, cases[0].body).error().message,
              ::testing::HasSubstr("Invalid JWT Signature."));
}

}  // namespace
}  // namespace qq::providers
