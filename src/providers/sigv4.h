// AWS Signature Version 4: what proves to AWS who sends a request, without the secret going along.
//
//   canonical request  = method, path, query, signed headers, hash of the body
//   string to sign     = "AWS4-HMAC-SHA256", time, day/region/service/aws4_request, hash of the above
//   signature          = HMAC chain of secret, day, region, service over it
//
// Pure; `now` is the wall clock, which AWS lets differ by five minutes. Any number of these may be made at
// once.
//
// Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. The path comes
// as it goes over the wire, percent-encoded, and is encoded a second time for the signature, as all services
// but S3 demand.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace qq::providers {

struct AwsCredential {
  std::string_view access_key_id;
  std::string_view secret_access_key;
  std::string_view session_token;  // empty for keys that last
};
// "ID:SECRET" or "ID:SECRET:TOKEN", as an account's credential is written; the token may be empty. Nothing
// for anything else (a Bedrock API key has no colon). The views are of `text`.
std::optional<AwsCredential> parse_aws_credential(std::string_view text) noexcept;

struct RequestToSign {
  std::string_view method = "POST";
  std::string_view host;          // as the Host header says it, with a port that is not the scheme's
  std::string_view path;          // with its query, whose parameters stand in the order of their names
  std::string_view content_type;  // empty: none is sent
  std::span<const std::string_view> body_pieces;
  std::string_view region;
  std::string_view service = "bedrock";  // Bedrock's runtime signs by this name too
};

// The header lines to add, each with CRLF: authorization, x-amz-date and x-amz-security-token.
std::string sigv4_header_lines(const AwsCredential& credential, const RequestToSign& request, WallTime now);

}  // namespace qq::providers
