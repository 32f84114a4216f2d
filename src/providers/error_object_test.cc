// Errors inside a 200: as a whole answer, or as an event of a stream.
#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

TEST(ErrorObject, InsideA200SaysWhatItsCodeSays) {
  EXPECT_EQ(classify_error_object("openrouter", R"({"error":{"code":502,"message":"x"}})").kind,
            ErrorKind::ServerError);
  EXPECT_EQ(classify_error_object("openrouter", R"({"error":{"code":429,"message":"x"}})").kind,
            ErrorKind::RateLimited);
  EXPECT_EQ(
      classify_error_object("groq", R"({"error":{"message":"x","code":"tool_use_failed","status_code":400}})")
          .kind,
      ErrorKind::Refused);
  EXPECT_EQ(classify_error_object("openai",
                                  R"({"type":"error","error":{"code":"insufficient_quota","message":"x"}})")
                .kind,
            ErrorKind::QuotaExhausted);
  EXPECT_EQ(
      classify_error_object("minimax", R"({"base_resp":{"status_code":1004,"status_msg":"login fail"}})")
          .kind,
      ErrorKind::CredentialDead);
  EXPECT_EQ(classify_error_object("openai", R"({"error":{"message":"x","type":"server_error"}})").kind,
            ErrorKind::StreamError);
  EXPECT_EQ(classify_error_object("openai", "no JSON").kind, ErrorKind::StreamError);
}

struct ObjectCase {
  std::string_view provider;
  std::string_view body;
  ErrorKind kind;
};

// A StreamError would be a failure in the breaker's eyes, of a caller's making.
TEST(ErrorObject, OfACallersDoingIsNotTheProvidersFailure) {
  constexpr std::array kCases = {
      ObjectCase{"minimax", R"({"base_resp":{"status_code":1026,"status_msg":"input sensitive"}})",
                 ErrorKind::Refused},
      ObjectCase{"minimax", R"({"base_resp":{"status_code":1027,"status_msg":"output sensitive"}})",
                 ErrorKind::Refused},
      ObjectCase{"minimax", R"({"base_resp":{"status_code":1042,"status_msg":"invisible characters"}})",
                 ErrorKind::Refused},
      ObjectCase{"minimax", R"({"base_resp":{"status_code":2013,"status_msg":"invalid params"}})",
                 ErrorKind::Refused},
      ObjectCase{"minimax", R"({"error":{"message":"invalid params","http_code":"400"}})",
                 ErrorKind::Refused},
      ObjectCase{
          "minimax",
          R"j({"error":{"type":"bad_request_error","message":"no such tool: (1008)","http_code":"400"}})j",
          ErrorKind::Refused},
      ObjectCase{"zhipu", R"({"error":{"code":"1301","message":"unsafe"}})", ErrorKind::Refused},
      ObjectCase{"zhipu", R"({"error":{"code":"1261","message":"too long"}})", ErrorKind::Refused},
      ObjectCase{"hunyuan", R"({"error":{"code":"451001","message":"unsafe"}})", ErrorKind::Refused},
      ObjectCase{"qianfan", R"({"error":{"code":"system_unsafe","type":"unsafe_request","message":"x"}})",
                 ErrorKind::Refused},
      ObjectCase{"ark", R"({"error":{"code":"OutputTextSensitiveContentDetected","message":"x"}})",
                 ErrorKind::Refused},
      ObjectCase{"qwen", R"({"error":{"code":"DataInspectionFailed","message":"x"}})", ErrorKind::Refused},
  };
  for (const ObjectCase& tested : kCases) {
    EXPECT_EQ(to_string(classify_error_object(tested.provider, tested.body).kind), to_string(tested.kind))
        << tested.provider << " " << tested.body;
  }
}

TEST(ErrorObject, OfOpenAisResponsesIsACallersDoingByItsCode) {
  const auto kind = [](const std::string& code) {
    return classify_error_object("openai", R"({"error":{"code":")" + code + R"(","message":"x"}})").kind;
  };
  for (const std::string code :
       {"invalid_prompt", "bio_policy", "misalignment_policy_violation", "invalid_image",
        "invalid_image_format", "invalid_image_url", "invalid_image_mode", "invalid_base64_image",
        "image_parse_error", "image_content_policy_violation", "image_too_large", "image_too_small",
        "image_file_too_large", "image_file_not_found", "empty_image_file", "unsupported_image_media_type",
        "failed_to_download_image"}) {
    EXPECT_EQ(to_string(kind(code)), to_string(ErrorKind::Refused)) << code;
  }
  EXPECT_EQ(kind("vector_store_timeout"), ErrorKind::StreamError);
  EXPECT_EQ(kind("server_error"), ErrorKind::StreamError);
}

TEST(ErrorObject, OfATypeThatIsA400sIsOne) {
  const auto kind = [](std::string_view members) {
    return classify_error_object("openai", R"({"error":{)" + std::string(members) + "}}").kind;
  };
  EXPECT_EQ(kind(R"("type":"invalid_request_error","message":"x","code":null)"), ErrorKind::Refused);
  EXPECT_EQ(kind(R"("type":"BadRequestError","message":"x")"), ErrorKind::Refused);
  EXPECT_EQ(kind(R"("type":"BadRequestError","message":"x","code":500)"), ErrorKind::ServerError)
      << "a status speaks before the type";
  EXPECT_EQ(kind(R"("type":"invalid_request_error","message":"x","code":"invalid_api_key")"),
            ErrorKind::CredentialDead);
  EXPECT_EQ(kind(R"("type":"invalid_request_error","message":"Incorrect API key provided")"),
            ErrorKind::CredentialDead);
}

TEST(ErrorObject, OfOpenRoutersMoneyDependsOnWhatIsLeft) {
  const auto kind = [](std::string_view left) {
    return classify_error_object(
               "openrouter",
               R"({"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens. )"
               "You requested up to 900 tokens, but can only afford " +
                   std::string(left) + R"("}})")
        .kind;
  };
  EXPECT_EQ(kind("12"), ErrorKind::Refused);
  EXPECT_EQ(kind("0"), ErrorKind::QuotaExhausted);
  EXPECT_EQ(kind("-3"), ErrorKind::QuotaExhausted);
}

TEST(ErrorObject, OfDashScopesResponsesIsALimitWhereItSaysSo) {
  const auto kind = [](std::string_view provider, const std::string& message) {
    return classify_error_object(provider,
                                 R"({"error":{"code":"server_error","message":")" + message + R"("}})")
        .kind;
  };
  EXPECT_EQ(kind("qwen", "Requests rate limit exceeded, please try again later."), ErrorKind::RateLimited);
  EXPECT_EQ(kind("qwen", "lost"), ErrorKind::StreamError);
  EXPECT_EQ(kind("qwen", std::string(64, '.') + "rate limit exceeded"), ErrorKind::StreamError)
      << "further on it may be the caller's";
  EXPECT_EQ(kind("openai", "Requests rate limit exceeded"), ErrorKind::StreamError);
}

TEST(ErrorObject, TellsAMinutesLimitFromAnEmptyAccount) {
  const auto kind = [](const std::string& quota) {
    return classify_error_object(
               "openai_compatible",
               R"({"error":{"code":429,"message":"You exceeded your current quota","details":[{"violations":[)"
               R"({"quotaId":")" +
                   quota + R"("}]}]}})")
        .kind;
  };
  EXPECT_EQ(kind("GenerateRequestsPerMinutePerProject"), ErrorKind::RateLimited);
  EXPECT_EQ(kind("GenerateRequestsPerDayPerProject"), ErrorKind::QuotaExhausted);
}

TEST(ErrorObject, ReadByADialectMeansTheSame) {
  Error told = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, "slow down");
  told.code = "rate_limit_exceeded";
  EXPECT_EQ(classify_error_object("openai", told).kind, ErrorKind::RateLimited);
  EXPECT_EQ(classify_error_object("openai", told).message, "slow down");
  told.code = "1113";
  EXPECT_EQ(classify_error_object("openai", told).kind, ErrorKind::StreamError);
  EXPECT_EQ(classify_error_object("zhipu", told).kind, ErrorKind::QuotaExhausted);
  told.code = "";
  told.message = "wrong: sk-abcdefgh12345678";
  told.object = R"({"message":"wrong: sk-abcdefgh12345678"})";
  EXPECT_EQ(classify_error_object("openai", told).message, "wrong: sk-****");
  EXPECT_EQ(classify_error_object("openai", told).object, R"({"message":"wrong: sk-****"})");
}

TEST(ErrorObject, NamesTheWaitOfGooglesRetryInfo) {
  const std::string object =
      R"({"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]})";
  Error told = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, "x");
  told.code = "429";
  told.object = object;
  EXPECT_EQ(classify_error_object("openai_compatible", told).kind, ErrorKind::RateLimited);
  EXPECT_EQ(classify_error_object("openai_compatible", told).retry_after, std::chrono::seconds(7));
  EXPECT_EQ(classify_error_object("openai_compatible", "{\"error\":" + object + "}").retry_after,
            std::chrono::seconds(7));
}

TEST(ErrorObject, KeepsTheStatusThatWasRead) {
  const Error error = classify_error_object("openrouter", R"({"error":{"code":502,"message":"lost"}})");
  EXPECT_EQ(error.upstream_status, 200);
  EXPECT_EQ(error.message, "lost");
}

TEST(ErrorObject, HasNoPartOfOurCredential) {
  Error told = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, "");
  const std::string dots(2040, '.');
  told.message = dots + "plain/word=secret";
  told.code = "plain/word=secret";
  const Error error = classify_error_object("openai", told, "plain/word=secret");
  EXPECT_EQ(error.message, dots + "****");
  EXPECT_EQ(error.code, "****");
}

}  // namespace
}  // namespace qq::providers
