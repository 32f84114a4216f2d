// Access tokens of Google's for service accounts: a signed assertion (a JWT, RFC 7523) is exchanged for a
// token that lasts an hour. Pure: who fetches, keeps and refreshes tokens is upstream/google_tokens.h.
//
// Source: developers.google.com/identity/protocols/oauth2/service-account, "HTTP/REST".
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rsa_key.h"
#include "base/secret.h"
#include "base/time.h"

namespace qq::providers {

// A service account's key as Google hands it out: the JSON file.
struct ServiceAccount {
  std::string client_email;
  std::string token_uri;  // "https://oauth2.googleapis.com/token"
  std::string key_id;     // may be empty
  RsaKey key;
};
// Errors (Config) say what is missing or wrong, and quote nothing of it.
Result<ServiceAccount> parse_service_account(std::string_view json);

// The body (application/x-www-form-urlencoded) that asks for a token for Google's cloud. Signs, which takes
// about a millisecond. `now`: the wall clock, which Google lets differ by some minutes. Errors: Internal.
Result<std::string> token_request_body(const ServiceAccount& account, WallTime now);

struct GoogleToken {
  Secret token;
  std::chrono::seconds expires_in{0};  // from when it was asked for; at least 0
};
// What the token endpoint answered. Errors: CredentialDead where it refuses the account, else RateLimited,
// Overloaded, ServerError or BadContentType. Their phase is NotSent: the provider itself was not asked.
Result<GoogleToken> parse_token_reply(int status, std::string_view body);

}  // namespace qq::providers
