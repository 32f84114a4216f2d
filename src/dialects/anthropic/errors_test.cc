#include <gtest/gtest.h>

#include "dialects/anthropic/dialect.h"

namespace qq::dialects::anthropic {
namespace {

struct ErrorCase {
  ErrorKind kind;
  int status;
  std::string_view type;
};

TEST(AnthropicErrors, KindsHaveAStatusAndATypeThatTheSdkKnows) {
  for (const ErrorCase& each : {
           ErrorCase{ErrorKind::InvalidRequest, 400, "invalid_request_error"},
           ErrorCase{ErrorKind::Unauthorized, 401, "authentication_error"},
           ErrorCase{ErrorKind::Forbidden, 403, "permission_error"},
           ErrorCase{ErrorKind::NotFound, 404, "not_found_error"},
           ErrorCase{ErrorKind::MethodNotAllowed, 405, "invalid_request_error"},
           ErrorCase{ErrorKind::PayloadTooLarge, 413, "request_too_large"},
           ErrorCase{ErrorKind::RateLimited, 429, "rate_limit_error"},
           ErrorCase{ErrorKind::Overloaded, 529, "overloaded_error"},
           ErrorCase{ErrorKind::ServerError, 502, "api_error"},
           ErrorCase{ErrorKind::NoTarget, 503, "overloaded_error"},
           ErrorCase{ErrorKind::TotalTimeout, 504, "timeout_error"},
           ErrorCase{ErrorKind::Internal, 500, "api_error"},
       }) {
    const EncodedError encoded = client_side().encode_error(Error::gateway(each.kind, "why"), "req_1");
    EXPECT_EQ(encoded.status, each.status) << to_string(each.kind);
    EXPECT_EQ(encoded.body, R"({"type":"error","error":{"type":")" + std::string(each.type) +
                                R"(","message":"why"},"request_id":"req_1"})");
  }
}

TEST(AnthropicErrors, OurOwnAccountsTroubleIsNotTheClients) {
  const EncodedError encoded = client_side().encode_error(
      Error::upstream(ErrorKind::CredentialDead, AttemptPhase::ReplyBegun, "invalid x-api-key"), "");
  EXPECT_EQ(encoded.status, 503);
  EXPECT_EQ(encoded.body.find("x-api-key"), std::string::npos);
}

TEST(AnthropicErrors, AProvidersOwnObjectGoesOnIfItIsOfThisShape) {
  Error error = Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "no");
  error.object = "{\"type\":\"invalid_request_error\",\n\"message\":\"no\",\"details\":1}";
  EXPECT_EQ(client_side().encode_error(error, "").body,
            R"({"type":"error","error":{"type":"invalid_request_error", "message":"no","details":1}})");
  error.object = R"({"message":"no","type":"requests","code":"x"})";
  EXPECT_EQ(client_side().encode_error(error, "").body,
            R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})");
}

TEST(AnthropicErrors, AnotherProvidersFullContextIsSaidInTheWordsThatClaudeCodeActsOn) {
  Error error =
      Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "maximum context length is 8192");
  error.upstream_status = 400;
  error.code = "context_length_exceeded";
  EXPECT_EQ(
      client_side().encode_error(error, "").body,
      R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: maximum context length is 8192"}})");
}

TEST(AnthropicErrors, InAStreamTheyAreAnEventOfTheirOwn) {
  std::string out;
  client_side().encode_stream_error(Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut"),
                                    "r", out);
  EXPECT_EQ(out,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"cut\"},"
            "\"request_id\":\"r\"}\n\n");
}

}  // namespace
}  // namespace qq::dialects::anthropic
