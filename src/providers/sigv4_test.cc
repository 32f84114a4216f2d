#include "providers/sigv4.h"

#include <array>

namespace qq::providers {
namespace {

using namespace std::chrono_literals;

constexpr AwsCredential kExample{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
// 2015-08-30 12:36:00, of the documentation.
constexpr WallTime kOfTheDocuments{1'440'938'160s};

std::string signature_in(const std::string& lines) {
  const std::size_t at = lines.find("Signature=");
  return at == std::string::npos ? lines : lines.substr(at + 10, 64);
}

// AWS's test suite for version 4 (aws-sig-v4-test-suite) and the example of its documentation, for the
// requests whose shape we send.
TEST(SigV4, GivesThePublishedSignatures) {
  RequestToSign request{.method = "GET",
                        .host = "example.amazonaws.com",
                        .path = "/",
                        .region = "us-east-1",
                        .service = "service"};
  const auto signature = [&](const AwsCredential& credential = kExample) {
    return signature_in(sigv4_header_lines(credential, request, kOfTheDocuments));
  };
  EXPECT_EQ(signature(), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31") << "get-vanilla";
  request.path = "/?Param1=value1&Param2=value2";
  EXPECT_EQ(signature(), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
      << "get-vanilla-query-order-key-case";
  request.path = "/";
  request.method = "POST";
  EXPECT_EQ(signature(), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
      << "post-vanilla";
  request.content_type = "application/x-www-form-urlencoded";
  const std::array<std::string_view, 2> body = {"Param1=", "value1"};
  request.body_pieces = body;
  EXPECT_EQ(signature(), "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
      << "post-x-www-form-urlencoded";
  request = {.method = "GET",
             .host = "iam.amazonaws.com",
             .path = "/?Action=ListUsers&Version=2010-05-08",
             .content_type = "application/x-www-form-urlencoded; charset=utf-8",
             .region = "us-east-1",
             .service = "iam"};
  EXPECT_EQ(signature(), "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7") << "ListUsers";
}

TEST(SigV4, SignsATokenThatIsSentAlong) {
  AwsCredential credential = kExample;
  credential.session_token =
      "AQoDYXdzEPT//////////"
      "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUu"
      "wthAx7mSEI/qkPpKPi/"
      "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQc"
      "HNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
      "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/o"
      "LxBA==";
  const RequestToSign request{
      .host = "example.amazonaws.com", .path = "/", .region = "us-east-1", .service = "service"};
  const std::string lines = sigv4_header_lines(credential, request, kOfTheDocuments);
  EXPECT_EQ(signature_in(lines), "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead")
      << "post-sts-header-before";
  EXPECT_TRUE(lines.ends_with("x-amz-security-token: " + std::string(credential.session_token) + "\r\n"));
}

// What AWS's own SDK for Python (botocore 1.44.8) makes of the same requests.
TEST(SigV4, EncodesThePathOfAModelTwice) {
  constexpr WallTime kSigningTime{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30} + 9h + 5min + 7s +
                                  999ms};
  const std::array<std::string_view, 1> body = {R"({"messages":[]})"};
  RequestToSign request{.host = "bedrock-runtime.eu-central-1.amazonaws.com",
                        .path = "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse",
                        .content_type = "application/json",
                        .body_pieces = body,
                        .region = "eu-central-1"};
  EXPECT_EQ(
      sigv4_header_lines(kExample, request, kSigningTime),
      "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/eu-central-1/bedrock/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date, "
      "Signature=af520c65b10ffc1fa48db288de9e7e430bb3aecf1d72accf448ab78f8ace80d8\r\n"
      "x-amz-date: 20261130T090507Z\r\n");
  AwsCredential with_token = kExample;
  with_token.session_token = "AQoDYXdz//EXAMPLE==";
  request.path =
      "/model/"
      "arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Ainference-profile%2Feu.amazon.nova-lite-v1%3A0/"
      "converse-stream";
  EXPECT_EQ(signature_in(sigv4_header_lines(with_token, request, kSigningTime)),
            "dd2e58266b45e13e5563163671feb6c103cc9fc8dfd41c3f47b412c237b57fcd");
  request.host = "127.0.0.1:9001";
  request.path = "/model/a%20b/invoke";
  request.body_pieces = {};
  EXPECT_EQ(signature_in(sigv4_header_lines(kExample, request, kSigningTime)),
            "186332ef468271a7b5b640cb191cdb4b1540d23bbd92bb13724c31b0fe2cae32");
}

TEST(AwsCredential, IsTwoOrThreePartsWithColonsBetween) {
  const auto two = parse_aws_credential("AKIA1:se/cr+et");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->access_key_id, "AKIA1");
  EXPECT_EQ(two->secret_access_key, "se/cr+et");
  EXPECT_EQ(two->session_token, "");
  EXPECT_EQ(parse_aws_credential("AKIA1:secret:to/ken==")->session_token, "to/ken==");
  EXPECT_EQ(parse_aws_credential("AKIA1:secret:")->session_token, "") << "an empty variable at its end";
  for (const std::string_view other :
       {"", "ABSKQmVkcm9jaw==", ":secret", "AKIA1:", "AKIA1::token", "a:b:c:d"}) {
    EXPECT_FALSE(parse_aws_credential(other)) << other;
  }
}

}  // namespace
}  // namespace qq::providers
