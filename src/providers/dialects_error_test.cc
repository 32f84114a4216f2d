// What errors of providers with other dialects than OpenAI's mean.
#include <recordings/recordings.h>

#include <map>

#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

struct Told {
  std::string_view kind;
  int status;
  std::string_view body;
  ErrorKind meaning;
};

Error classified(const Told& each) {
  const wire::Fields none;
  return classify_reply(each.kind, each.status, none, each.body, WallTime{});
}

constexpr std::string_view kAnthropicOverload =
    R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"})";

TEST(AnthropicErrors, MeanWhatTheirTypesAndWordsSay) {
  const std::vector<Told> cases = {
      {"anthropic", 529, kAnthropicOverload, ErrorKind::Overloaded},
      {"anthropic", 401,
       R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})",
       ErrorKind::CredentialDead},
      {"anthropic", 402, R"({"type":"error","error":{"type":"billing_error","message":"x"}})",
       ErrorKind::QuotaExhausted},
      {"anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}})",
       ErrorKind::QuotaExhausted},
      {"anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2027-01-01."}})",
       ErrorKind::QuotaExhausted},
      {"anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"tool x says: Your credit balance is too low"}})",
       ErrorKind::Refused},
      {"anthropic", 403,
       R"({"type":"error","error":{"type":"permission_error","message":"This organization has been disabled."}})",
       ErrorKind::CredentialDead},
      {"anthropic", 404,
       R"({"type":"error","error":{"type":"not_found_error","message":"model: claude-none"}})",
       ErrorKind::ModelMissing},
      {"anthropic", 413, R"({"type":"error","error":{"type":"request_too_large","message":"x"}})",
       ErrorKind::Refused},
      {"anthropic", 413, "<html>413</html>", ErrorKind::Refused},
      {"anthropic", 429, R"({"type":"error","error":{"type":"rate_limit_error","message":"x"}})",
       ErrorKind::RateLimited},
      {"anthropic", 429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"Usage credits are required for long context requests."}})",
       ErrorKind::Refused},
      {"anthropic", 500, R"({"type":"error","error":{"type":"api_error","message":"x"}})",
       ErrorKind::ServerError},
      {"anthropic", 504, R"({"type":"error","error":{"type":"timeout_error","message":"x"}})",
       ErrorKind::ServerError},
      {"vertex_anthropic", 429,
       R"({"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED"}})",
       ErrorKind::RateLimited},
      {"vertex_anthropic", 529, kAnthropicOverload, ErrorKind::Overloaded},
  };
  for (const Told& each : cases) EXPECT_EQ(classified(each).kind, each.meaning) << each.status << each.body;
}

TEST(AnthropicErrors, InAStreamMeanTheSame) {
  const auto told = [](std::string_view type) {
    Error error;
    error.type = type;
    error.message = "x";
    return classify_error_object("anthropic", error).kind;
  };
  EXPECT_EQ(told("overloaded_error"), ErrorKind::Overloaded);
  EXPECT_EQ(told("rate_limit_error"), ErrorKind::RateLimited);
  EXPECT_EQ(told("invalid_request_error"), ErrorKind::Refused);
  EXPECT_EQ(told("api_error"), ErrorKind::StreamError);
}

TEST(GoogleErrors, MeanWhatTheirReasonsSay) {
  const std::vector<Told> cases = {
      {"gemini", 400,
       R"({"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}})",
       ErrorKind::CredentialDead},
      {"gemini", 403,
       R"({"error":{"code":403,"message":"Requests to this method are blocked.","status":"PERMISSION_DENIED","details":[{"reason":"API_KEY_SERVICE_BLOCKED"}]}})",
       ErrorKind::CredentialDead},
      {"vertex", 403,
       R"({"error":{"code":403,"message":"The API has not been used in project p before or it is disabled.","status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}})",
       ErrorKind::CredentialDead},
      {"vertex", 403,
       R"({"error":{"code":403,"message":"This API method requires billing.","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}})",
       ErrorKind::QuotaExhausted},
      {"vertex", 401,
       R"({"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}})",
       ErrorKind::CredentialDead},
      {"gemini", 400,
       R"({"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}})",
       ErrorKind::CredentialDead},
      {"gemini", 429,
       R"({"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}})",
       ErrorKind::QuotaExhausted},
      {"gemini", 429,
       R"({"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]}})",
       ErrorKind::RateLimited},
      {"gemini", 503, R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})",
       ErrorKind::Overloaded},
      {"gemini", 504, R"({"error":{"code":504,"message":"x","status":"DEADLINE_EXCEEDED"}})",
       ErrorKind::ServerError},
      {"gemini", 404, R"({"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}})",
       ErrorKind::ModelMissing},
      {"vertex", 404, "<!DOCTYPE html>", ErrorKind::BadContentType},
      {"gemini", 400,
       R"({"error":{"code":400,"message":"Invalid value at 'contents'","status":"INVALID_ARGUMENT"}})",
       ErrorKind::Refused},
  };
  for (const Told& each : cases) EXPECT_EQ(classified(each).kind, each.meaning) << each.status << each.body;
}

TEST(GoogleErrors, SayWhenToComeBackInTheirDetails) {
  const Error error = classified(
      {"vertex", 429,
       R"([{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.4s"}]}}])",
       ErrorKind::RateLimited});
  EXPECT_EQ(error.retry_after, Milliseconds(34'400));
}

Error from_bedrock(int status, std::string_view header, std::string_view body) {
  wire::Fields fields;
  if (!header.empty()) fields.add({kAwsErrorType, header});
  return classify_reply("bedrock", status, fields, body, WallTime{});
}

TEST(BedrockErrors, AreNamedByAHeaderOrByTheBody) {
  const Error by_header = from_bedrock(
      429, "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/", R"({"message":"x"})");
  EXPECT_EQ(by_header.kind, ErrorKind::RateLimited);
  EXPECT_EQ(by_header.type, "ThrottlingException");
  const Error by_body = from_bedrock(
      403, "", R"({"__type":"com.amazon.coral.service#UnrecognizedClientException","Message":"x"})");
  EXPECT_EQ(by_body.kind, ErrorKind::CredentialDead);
  EXPECT_EQ(by_body.type, "UnrecognizedClientException");
}

TEST(BedrockErrors, MeanWhatTheirExceptionsSay) {
  struct Named {
    int status;
    std::string_view name;
    std::string_view message;
    ErrorKind meaning;
  };
  const std::vector<Named> cases = {
      {429, "ThrottlingException", "Too many tokens per day, please wait before trying again.",
       ErrorKind::QuotaExhausted},
      {429, "ThrottlingException", "Too many tokens, please wait before trying again.",
       ErrorKind::RateLimited},
      {400, "ServiceQuotaExceededException", "x", ErrorKind::QuotaExhausted},
      {403, "ExpiredTokenException", "The security token included in the request is expired",
       ErrorKind::CredentialDead},
      {403, "InvalidSignatureException", "The request signature does not match.", ErrorKind::CredentialDead},
      {403, "AccessDeniedException", "You don't have access to the model with the specified model ID.",
       ErrorKind::ModelMissing},
      {404, "ResourceNotFoundException", "x", ErrorKind::ModelMissing},
      {400, "ValidationException", "The provided model identifier is invalid.", ErrorKind::ModelMissing},
      {400, "ValidationException", "Invocation of model ID a.b with on-demand throughput isn't supported.",
       ErrorKind::ModelMissing},
      {400, "ValidationException", "The text field is blank", ErrorKind::Refused},
      {424, "ModelErrorException", "x", ErrorKind::ServerError},
      {408, "ModelTimeoutException", "x", ErrorKind::ServerError},
      {429, "ModelNotReadyException", "x", ErrorKind::Overloaded},
      {500, "InternalServerException", "x", ErrorKind::ServerError},
      {503, "ServiceUnavailableException", "x", ErrorKind::Overloaded},
  };
  for (const Named& each : cases) {
    const std::string body = "{\"message\":\"" + std::string(each.message) + "\"}";
    EXPECT_EQ(from_bedrock(each.status, each.name, body).kind, each.meaning) << each.name << each.message;
  }
}

TEST(BedrockErrors, InAStreamMeanTheSame) {
  const auto told = [](std::string_view exception) {
    Error error;
    error.type = exception;
    error.message = "x";
    return classify_error_object("bedrock", error).kind;
  };
  EXPECT_EQ(told("throttlingException"), ErrorKind::RateLimited);
  EXPECT_EQ(told("modelStreamErrorException"), ErrorKind::ServerError);
  EXPECT_EQ(told("serviceUnavailableException"), ErrorKind::Overloaded);
  EXPECT_EQ(told("validationException"), ErrorKind::Refused);
  EXPECT_EQ(told("somethingNewException"), ErrorKind::StreamError);
}

TEST(OtherErrors, MeanWhatTheirWordsSay) {
  const std::vector<Told> cases = {
      {"cohere", 401, R"({"id":"1","message":"invalid api token"})", ErrorKind::CredentialDead},
      {"cohere", 404, R"({"id":"1","message":"model 'x' not found"})", ErrorKind::ModelMissing},
      {"cohere", 429,
       R"({"message":"You are using a Trial key, which is limited to 1000 API calls / month. Upgrade."})",
       ErrorKind::QuotaExhausted},
      {"cohere", 429,
       R"({"message":"You are using a Trial key, which is limited to 40 API calls / minute."})",
       ErrorKind::RateLimited},
      {"cohere", 498, R"({"message":"blocked input"})", ErrorKind::Refused},
      {"groq", 498, R"({"error":{"message":"no capacity"}})", ErrorKind::Overloaded},
      {"ollama_native", 404, R"({"error":"model 'x' not found"})", ErrorKind::ModelMissing},
      {"ollama_native", 503, R"({"error":"server busy, please try again."})", ErrorKind::Overloaded},
      {"ollama_native", 500, R"({"error":"model requires more system memory"})", ErrorKind::ServerError},
      {"jina", 402, R"({"detail":"Insufficient balance"})", ErrorKind::QuotaExhausted},
  };
  for (const Told& each : cases) EXPECT_EQ(classified(each).kind, each.meaning) << each.status << each.body;
}

// Each has the beginning in which the provider says it, and what a caller may have said further on.
TEST(OtherErrors, SayThatARequestIsLongerThanTheContext) {
  const std::vector<Told> long_ones = {
      {"anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}})",
       ErrorKind::Refused},
      {"vertex_anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 1 + 2 > 2"}})",
       ErrorKind::Refused},
      {"gemini", 400,
       R"({"error":{"code":400,"message":"The input token count (2) exceeds the maximum number of tokens allowed (1).","status":"INVALID_ARGUMENT"}})",
       ErrorKind::Refused},
      {"bedrock", 400, R"({"message":"Input is too long for requested model."})", ErrorKind::Refused},
      {"cohere", 400,
       R"({"error_type":"TOO_MANY_TOKENS","id":"1","message":"too many tokens: size limit exceeded"})",
       ErrorKind::Refused},
      {"ollama_native", 400, R"({"error":"the input length exceeds the context length"})",
       ErrorKind::Refused},
  };
  for (const Told& each : long_ones) {
    const Error error = classified(each);
    EXPECT_EQ(error.kind, each.meaning) << each.body;
    EXPECT_EQ(error.code, "context_length_exceeded") << each.body;
  }
  const Error other = classified(
      {"anthropic", 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"tools.0: prompt is too long"}})",
       ErrorKind::Refused});
  EXPECT_EQ(other.code, "");
}

TEST(OtherRecordedErrors, AreClassified) {
  const auto folder = recordings::folder();
  if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
  std::map<std::string, int> counts;
  for (const recordings::Recording& recording :
       recordings::load_all(*folder, {"anthropic", "bedrock", "cohere", "gemini", "vertex"})) {
    if (recording.status < 400) continue;
    wire::Fields fields;
    for (const auto& [name, value] : recording.headers) fields.add({name, value});
    const Error error =
        classify_reply(recording.provider, recording.status, fields, recording.body, WallTime{});
    ++counts[recording.provider + " " + std::to_string(recording.status) + " " +
             std::string(to_string(error.kind))];
    EXPECT_FALSE(error.message.empty()) << recording.name;
    if (recording.name == "gemini/generate-429-google-429-retry-info-0.json") {
      EXPECT_EQ(error.retry_after, Milliseconds(34'400));
    }
  }
  const std::map<std::string, int> expected = {
      {"anthropic 400 refused", 1},       {"anthropic 401 credential_dead", 2},
      {"anthropic 404 model_missing", 1}, {"bedrock 403 credential_dead", 1},
      {"cohere 400 refused", 1},          {"cohere 404 model_missing", 1},
      {"gemini 400 credential_dead", 2},  {"gemini 404 model_missing", 2},
      {"gemini 429 rate_limited", 1},     {"vertex 400 credential_dead", 1},
      {"vertex 404 bad_content_type", 1},
  };
  EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace qq::providers
