#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

Error classify(std::string_view kind, int status, std::string_view body) {
  const wire::Fields none;
  return classify_reply(kind, status, none, body, kNow);
}

struct Case {
  std::string_view provider;
  int status;
  std::string_view body;
  ErrorKind kind;
  std::string_view code;
  std::string_view message;
};

TEST(UpstreamError, IsReadFromEveryProvidersShape) {
  const std::vector<Case> cases = {
      // OpenAI
      {"openai", 401,
       R"({"error":{"message":"Incorrect key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})",
       ErrorKind::CredentialDead, "invalid_api_key", "Incorrect key"},
      {"openai", 404,
       R"({"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}})",
       ErrorKind::ModelMissing, "model_not_found", "The model `x` does not exist"},
      {"openai", 400,
       R"({"error":{"message":"The requested model 'x' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}})",
       ErrorKind::ModelMissing, "model_not_found", "The requested model 'x' does not exist."},
      {"openai", 400,
       R"({"error":{"message":"Too long","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}})",
       ErrorKind::Refused, "context_length_exceeded", "Too long"},
      {"openai", 400,
       R"({"error":{"message":"Previous response with id 'resp_1' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}})",
       ErrorKind::Refused, "previous_response_not_found", "Previous response with id 'resp_1' not found."},
      {"openai", 429,
       R"({"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}})",
       ErrorKind::RateLimited, "rate_limit_exceeded", "Rate limit reached"},
      {"openai", 429,
       R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})",
       ErrorKind::QuotaExhausted, "insufficient_quota", "You exceeded your current quota"},
      {"openai", 403,
       R"({"error":{"message":"Country not supported","type":"request_forbidden","param":null,"code":"unsupported_country_region_territory"}})",
       ErrorKind::CredentialDead, "unsupported_country_region_territory", "Country not supported"},
      {"openai", 403,
       R"({"error":{"message":"Project `p` does not have access to model `gpt-x`","type":"invalid_request_error","param":null,"code":null}})",
       ErrorKind::ModelMissing, "", "Project `p` does not have access to model `gpt-x`"},
      {"openai", 500,
       R"({"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}})",
       ErrorKind::ServerError, "", "The server had an error"},
      {"openai", 503,
       R"({"error":{"message":"The engine is overloaded","type":"server_error","param":null,"code":null}})",
       ErrorKind::Overloaded, "", "The engine is overloaded"},
      // Azure
      {"azure_openai", 401,
       R"({"error":{"code":"401","message":"Access denied due to invalid subscription key"}})",
       ErrorKind::CredentialDead, "401", "Access denied due to invalid subscription key"},
      {"azure_openai", 404,
       R"({"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist."}})",
       ErrorKind::ModelMissing, "DeploymentNotFound", "The API deployment does not exist."},
      {"azure_openai", 429, R"({"error":{"code":"RateLimitReached","message":"Slow down"}})",
       ErrorKind::RateLimited, "RateLimitReached", "Slow down"},
      {"azure_openai", 400,
       R"({"error":{"code":"content_filter","message":"Filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}})",
       ErrorKind::Refused, "content_filter", "Filtered"},
      // Keys that are refused with 400
      {"xai", 400, R"({"code":"invalid-argument","error":"Incorrect API key provided. You can obtain one."})",
       ErrorKind::CredentialDead, "invalid-argument", "Incorrect API key provided. You can obtain one."},
      {"openai_compatible", 400,
       R"([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}])",
       ErrorKind::CredentialDead, "400", "API key not valid. Please pass a valid API key."},
      {"xai", 403,
       R"({"code":"forbidden","error":"Your team abc has used all available credits or reached its limit"})",
       ErrorKind::QuotaExhausted, "forbidden",
       "Your team abc has used all available credits or reached its limit"},
      // The others
      {"deepseek", 402,
       R"({"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}})",
       ErrorKind::QuotaExhausted, "invalid_request_error", "Insufficient Balance"},
      {"deepseek", 400,
       R"({"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}})",
       ErrorKind::ModelMissing, "invalid_request_error", "Model Not Exist"},
      {"deepseek", 401,
       R"({"error":{"message":"Authentication Fails","type":"authentication_error","param":null,"code":"invalid_request_error"}})",
       ErrorKind::CredentialDead, "invalid_request_error", "Authentication Fails"},
      {"groq", 413,
       R"({"error":{"message":"Request too large: tokens per minute","type":"tokens","code":"rate_limit_exceeded"}})",
       ErrorKind::Refused, "rate_limit_exceeded", "Request too large: tokens per minute"},
      {"openai", 429,
       R"({"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 1, Requested 2.","type":"tokens","code":"rate_limit_exceeded"}})",
       ErrorKind::Refused, "rate_limit_exceeded",
       "Request too large for gpt-x on tokens per min (TPM): Limit 1, Requested 2."},
      {"groq", 400,
       R"({"error":{"message":"Failed to call a function","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x"}})",
       ErrorKind::Refused, "tool_use_failed", "Failed to call a function"},
      {"groq", 498, R"({"error":{"message":"Flex capacity exceeded"}})", ErrorKind::Overloaded, "",
       "Flex capacity exceeded"},
      {"openrouter", 402, R"({"error":{"code":402,"message":"Insufficient credits"},"user_id":"u"})",
       ErrorKind::QuotaExhausted, "402", "Insufficient credits"},
      {"openrouter", 402,
       R"({"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1200."}})",
       ErrorKind::Refused, "402",
       "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can "
       "only afford 1200."},
      {"openrouter", 402,
       R"({"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens. You requested up to 8 tokens, but can only afford 0."}})",
       ErrorKind::QuotaExhausted, "402",
       "This request requires more credits, or fewer max_tokens. You requested up to 8 tokens, but can only "
       "afford 0."},
      {"openai_compatible", 402,
       R"({"error":{"code":402,"message":"This request requires more credits: can only afford 1200"}})",
       ErrorKind::QuotaExhausted, "402", "This request requires more credits: can only afford 1200"},
      {"openrouter", 403,
       R"({"error":{"code":403,"message":"Key limit exceeded (total limit). Manage it in your settings"}})",
       ErrorKind::QuotaExhausted, "403", "Key limit exceeded (total limit). Manage it in your settings"},
      {"openrouter", 403,
       R"({"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["x"]}}})",
       ErrorKind::Refused, "403", "Your input was flagged"},
      {"openrouter", 408, R"({"error":{"code":408,"message":"Timed out"}})", ErrorKind::ServerError, "408",
       "Timed out"},
      {"openrouter", 502, R"({"error":{"code":502,"message":"Bad provider"}})", ErrorKind::ServerError, "502",
       "Bad provider"},
      {"zhipu", 429, R"({"error":{"code":"1302","message":"concurrency"}})", ErrorKind::RateLimited, "1302",
       "concurrency"},
      {"zhipu", 429, R"({"error":{"code":"1113","message":"no money"}})", ErrorKind::QuotaExhausted, "1113",
       "no money"},
      {"zhipu", 429, R"({"error":{"code":"1112","message":"locked"}})", ErrorKind::CredentialDead, "1112",
       "locked"},
      {"zhipu", 400, R"({"error":{"code":"1301","message":"unsafe"}})", ErrorKind::Refused, "1301", "unsafe"},
      {"openai", 400, R"({"error":{"code":"1113","message":"another's number"}})", ErrorKind::Refused, "1113",
       "another's number"},
      {"qwen", 400,
       R"({"error":{"code":"Arrearage","message":"Access denied, overdue","param":null,"type":"Arrearage"},"request_id":"r"})",
       ErrorKind::QuotaExhausted, "Arrearage", "Access denied, overdue"},
      {"qwen", 429, R"({"code":"limit_requests","message":"You exceeded","request_id":"r"})",
       ErrorKind::RateLimited, "limit_requests", "You exceeded"},
      {"qwen", 400, R"({"error":{"code":"data_inspection_failed","message":"inappropriate"}})",
       ErrorKind::Refused, "data_inspection_failed", "inappropriate"},
      {"moonshot", 429, R"({"error":{"type":"exceeded_current_quota_error","message":"check your plan"}})",
       ErrorKind::QuotaExhausted, "", "check your plan"},
      {"moonshot", 429, R"({"error":{"type":"engine_overloaded_error","message":"overloaded"}})",
       ErrorKind::Overloaded, "", "overloaded"},
      {"ark", 429, R"({"error":{"code":"ServerOverloaded","message":"busy"}})", ErrorKind::Overloaded,
       "ServerOverloaded", "busy"},
      {"mistral", 401, R"({"detail":"Invalid API Key"})", ErrorKind::CredentialDead, "", "Invalid API Key"},
      {"mistral", 422, R"({"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]})",
       ErrorKind::Refused, "", "Field required"},
      {"mistral", 400,
       R"({"object":"error","message":"Invalid model","type":"invalid_model","param":null,"code":"1500"})",
       ErrorKind::ModelMissing, "1500", "Invalid model"},
      {"perplexity", 400, R"({"error":{"message":"too long","type":"too_many_prompt_tokens","code":400}})",
       ErrorKind::Refused, "400", "too long"},
      {"qianfan", 400, R"({"error_code":336003,"error_msg":"messages empty"})", ErrorKind::Refused, "336003",
       "messages empty"},
      {"llamacpp", 503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
       ErrorKind::Overloaded, "503", "Loading model"},
      {"llamacpp", 400,
       R"({"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_ctx":4096}})",
       ErrorKind::Refused, "400", "too long"},
      {"ollama", 404, R"({"error":"model \"x\" not found, try pulling it first"})", ErrorKind::ModelMissing,
       "", "model \"x\" not found, try pulling it first"},
      {"vllm", 404,
       R"({"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404})",
       ErrorKind::ModelMissing, "404", "The model `x` does not exist."},
      {"openai", 404,
       R"({"error":{"message":"Conversation with id 'conv_1' not found.","type":"invalid_request_error","param":null,"code":null}})",
       ErrorKind::Refused, "", "Conversation with id 'conv_1' not found."},
      {"openai_compatible", 429,
       R"({"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"t/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}})",
       ErrorKind::QuotaExhausted, "429", "quota"},
      {"openai_compatible", 529,
       R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       ErrorKind::Overloaded, "", "Overloaded"},
      // Perplexity retired chat; the key is alive.
      {"perplexity", 403,
       R"({"error":{"message":"Sonar is now the Agent API. Use /v1/responses instead","type":"chat_completions_not_available","code":403}})",
       ErrorKind::ModelMissing, "403", "Sonar is now the Agent API. Use /v1/responses instead"},
      {"perplexity", 403,
       R"({"error":{"message":"Migrate to the Agent API","type":"agent_api_migration_required","code":403}})",
       ErrorKind::ModelMissing, "403", "Migrate to the Agent API"},
      // TokenHub: six digits, and a 402 that is not always about money
      {"hunyuan", 401, R"({"error":{"type":"auth_error","code":"401001","message":"bad key"}})",
       ErrorKind::CredentialDead, "401001", "bad key"},
      {"hunyuan", 402, R"({"error":{"type":"billing_error","code":"402001","message":"plan used up"}})",
       ErrorKind::QuotaExhausted, "402001", "plan used up"},
      {"hunyuan", 402,
       R"({"error":{"type":"billing_error","code":"402002","message":"The model hy-x is not activated"}})",
       ErrorKind::ModelMissing, "402002", "The model hy-x is not activated"},
      {"hunyuan", 402, R"({"error":{"type":"billing_error","code":"402002","message":"模型未开通"}})",
       ErrorKind::ModelMissing, "402002", "模型未开通"},
      {"openai_compatible", 402, R"({"error":{"message":"The model is not activated"}})",
       ErrorKind::QuotaExhausted, "", "The model is not activated"},
      {"hunyuan", 403, R"({"error":{"type":"permission_error","code":"403001","message":"IP not allowed"}})",
       ErrorKind::CredentialDead, "403001", "IP not allowed"},
      {"hunyuan", 429, R"({"error":{"type":"rate_limit","code":"429001","message":"slow down"}})",
       ErrorKind::RateLimited, "429001", "slow down"},
      {"hunyuan", 451, R"({"error":{"type":"content_filter_error","code":"451001","message":"unsafe"}})",
       ErrorKind::Refused, "451001", "unsafe"},
      // DashScope: tokens a minute under the name of a quota, and bills
      {"qwen", 429,
       R"({"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"You exceeded your current quota, please check your plan"}})",
       ErrorKind::RateLimited, "insufficient_quota",
       "You exceeded your current quota, please check your plan"},
      {"qwen", 429,
       R"({"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."})",
       ErrorKind::RateLimited, "Throttling.AllocationQuota",
       "Allocated quota exceeded, please increase your quota limit."},
      {"qwen", 429, R"({"error":{"message":"You exceeded your current quota"}})", ErrorKind::RateLimited, "",
       "You exceeded your current quota"},
      {"qwen", 429, R"({"code":"PrepaidBillOverdue","message":"pay"})", ErrorKind::QuotaExhausted,
       "PrepaidBillOverdue", "pay"},
      {"qwen", 429, R"({"code":"PostpaidBillOverdue","message":"pay"})", ErrorKind::QuotaExhausted,
       "PostpaidBillOverdue", "pay"},
      {"qwen", 429, R"({"code":"CommodityNotPurchased","message":"pay"})", ErrorKind::QuotaExhausted,
       "CommodityNotPurchased", "pay"},
      // Google: the same words for a limit a minute and for one a day
      {"openai_compatible", 429,
       R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"t/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"t/google.rpc.RetryInfo","retryDelay":"34.4s"}]}})",
       ErrorKind::RateLimited, "429", "You exceeded your current quota, please check your plan."},
      {"openai_compatible", 429,
       R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"t/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"@type":"t/google.rpc.RetryInfo","retryDelay":"34.4s"}]}})",
       ErrorKind::QuotaExhausted, "429", "You exceeded your current quota, please check your plan."},
      {"openai_compatible", 429,
       R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"t/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"},{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"@type":"t/google.rpc.RetryInfo","retryDelay":"34.4s"}]}})",
       ErrorKind::QuotaExhausted, "429", "You exceeded your current quota, please check your plan."},
      // Qianfan, second version
      {"qianfan", 403,
       R"({"error":{"code":"system_unsafe","message":"the content is unsafe","type":"unsafe_request"},"id":"as-1"})",
       ErrorKind::Refused, "system_unsafe", "the content is unsafe"},
      {"qianfan", 403,
       R"({"error":{"code":"user_setting_unsafe","message":"the content is unsafe","type":"unsafe_request"},"id":"as-1"})",
       ErrorKind::Refused, "user_setting_unsafe", "the content is unsafe"},
      {"qianfan", 403,
       R"({"error":{"code":"functions_unsafe","message":"the content is unsafe","type":"unsafe_request"},"id":"as-1"})",
       ErrorKind::Refused, "functions_unsafe", "the content is unsafe"},
      {"qianfan", 403,
       R"({"error":{"code":"account_overdue","message":"overdue","type":"access_denied"},"id":"as-1"})",
       ErrorKind::QuotaExhausted, "account_overdue", "overdue"},
      {"qianfan", 401,
       R"({"error":{"code":"no_parameter_permission","message":"not for this key","type":"access_denied"},"id":"as-1"})",
       ErrorKind::Refused, "no_parameter_permission", "not for this key"},
      {"qianfan", 401,
       R"({"error":{"code":"invalid_model","message":"The model does not exist or you do not have access to it.","type":"invalid_request_error"},"id":"as-1"})",
       ErrorKind::ModelMissing, "invalid_model", "The model does not exist or you do not have access to it."},
      {"qianfan", 401,
       R"({"error":{"code":"invalid_iam_token","message":"IAM Certification failed","type":"invalid_request_error"},"id":"as-1"})",
       ErrorKind::CredentialDead, "invalid_iam_token", "IAM Certification failed"},
      {"qianfan", 429,
       R"({"error":{"code":"rpm_rate_limit_exceeded","message":"Rate limit reached for RPM","type":"rate_limit_exceeded"},"id":"as-1"})",
       ErrorKind::RateLimited, "rpm_rate_limit_exceeded", "Rate limit reached for RPM"},
      // Ark: one code of several meanings
      {"ark", 429,
       R"({"error":{"code":"QuotaExceeded","message":"Your account [1] has exhausted its free trial quota for the [m] model.","type":"T"}})",
       ErrorKind::ModelMissing, "QuotaExceeded",
       "Your account [1] has exhausted its free trial quota for the [m] model."},
      {"ark", 429,
       R"({"error":{"code":"QuotaExceeded","message":"You have exceeded the weekly usage quota. It will reset at 2026-12-01.","type":"T"}})",
       ErrorKind::QuotaExhausted, "QuotaExceeded",
       "You have exceeded the weekly usage quota. It will reset at 2026-12-01."},
      {"qwen", 429, R"({"error":{"code":"throttling","message":"week allocated quota exceeded."}})",
       ErrorKind::QuotaExhausted, "throttling", "week allocated quota exceeded."},
      {"qwen", 429, R"({"error":{"code":"throttling","message":"concurrency allocated quota exceeded."}})",
       ErrorKind::RateLimited, "throttling", "concurrency allocated quota exceeded."},
      {"qwen", 400, R"({"error":{"code":"x","message":"no such tool: week allocated quota exceeded"}})",
       ErrorKind::Refused, "x", "no such tool: week allocated quota exceeded"},
      // MiniMax: the number stands behind the words
      {"minimax", 400,
       R"j({"type":"error","error":{"type":"bad_request_error","message":"invalid params, messages is empty (2013)","http_code":"400"},"request_id":"r"})j",
       ErrorKind::Refused, "", "invalid params, messages is empty (2013)"},
      {"minimax", 429,
       R"j({"type":"error","error":{"type":"rate_limit_error","message":"usage limit exceeded, resets at 2026-12-01 (2056)","http_code":"429"},"request_id":"r"})j",
       ErrorKind::QuotaExhausted, "", "usage limit exceeded, resets at 2026-12-01 (2056)"},
      {"minimax", 429,
       R"j({"type":"error","error":{"type":"insufficient_balance_error","message":"insufficient balance (1008)","http_code":"429"},"request_id":"r"})j",
       ErrorKind::QuotaExhausted, "", "insufficient balance (1008)"},
      {"minimax", 500,
       R"j({"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)","http_code":"500"},"request_id":"r"})j",
       ErrorKind::QuotaExhausted, "", "insufficient balance (1008)"},
      {"minimax", 401,
       R"j({"type":"error","error":{"type":"authorized_error","message":"invalid api key (2049)","http_code":"401"},"request_id":"r"})j",
       ErrorKind::CredentialDead, "", "invalid api key (2049)"},
      {"minimax", 500,
       R"j({"type":"error","error":{"type":"api_error","message":"unknown error (1000)","http_code":"500"},"request_id":"r"})j",
       ErrorKind::ServerError, "", "unknown error (1000)"},
      {"minimax", 500,
       R"j({"type":"error","error":{"type":"api_error","message":"input is sensitive (1026)","http_code":"500"},"request_id":"r"})j",
       ErrorKind::Refused, "", "input is sensitive (1026)"},
      {"minimax", 429,
       R"j({"type":"error","error":{"type":"rate_limit_error","message":"rate limit exceeded (1002)","http_code":"429"},"request_id":"r"})j",
       ErrorKind::RateLimited, "", "rate limit exceeded (1002)"},
      {"openai", 400, R"j({"error":{"message":"another's number (1008)"}})j", ErrorKind::Refused, "",
       "another's number (1008)"},
      // Together: 403 is a context that is too small
      {"together", 403,
       R"({"error":{"message":"Input tokens + max_tokens exceed the model's context length","type":"invalid_request_error","code":null}})",
       ErrorKind::Refused, "", "Input tokens + max_tokens exceed the model's context length"},
      // Without JSON
      {"openai", 404, "<html>not here</html>", ErrorKind::BadContentType, "",
       "the provider answered with status 404 and a web page"},
      {"openai", 404, "404 page not found", ErrorKind::BadContentType, "",
       "the provider answered with status 404: 404 page not found"},
      {"openai", 403, "<html>blocked</html>", ErrorKind::BadContentType, "",
       "the provider answered with status 403 and a web page"},
      {"openai", 413, "<html>too large</html>", ErrorKind::Refused, "",
       "the provider answered with status 413 and a web page"},
      {"openai", 429, "", ErrorKind::RateLimited, "", "the provider answered with status 429 and no body"},
      {"openai", 502, " \n", ErrorKind::ServerError, "", "the provider answered with status 502 and no body"},
      {"openai", 500, R"({"error":{)", ErrorKind::ServerError, "",
       R"(the provider answered with status 500: {"error":{)"},
      {"openai", 500, R"({})", ErrorKind::ServerError, "",
       "the provider answered with status 500 and no message"},
      {"openai", 302, "", ErrorKind::BadContentType, "", "the provider answered with status 302 and no body"},
      {"openai", 204, "", ErrorKind::BadContentType, "", "the provider answered with status 204 and no body"},
  };
  for (const Case& tested : cases) {
    const Error error = classify(tested.provider, tested.status, tested.body);
    EXPECT_EQ(to_string(error.kind), to_string(tested.kind)) << tested.provider << " " << tested.body;
    EXPECT_EQ(error.code, tested.code) << tested.body;
    EXPECT_EQ(error.message, tested.message) << tested.body;
    EXPECT_EQ(error.upstream_status, tested.status);
    EXPECT_EQ(error.origin, ErrorOrigin::Upstream);
    EXPECT_EQ(error.phase, AttemptPhase::ReplyBegun);
  }
}

// Whatever its words, and the status that it comes with.
TEST(UpstreamError, ACodeOfTheirOwnSpeaksBeforeTheStatus) {
  struct Row {
    std::string_view provider;
    int status;
    std::string_view code;
    ErrorKind kind;
  };
  constexpr std::array kRows = {
      // a 403 is seldom about the key
      Row{"ark", 403, "AccessDenied", ErrorKind::ModelMissing},
      Row{"ark", 403, "OperationDenied.InvalidState", ErrorKind::Refused},
      Row{"ark", 403, "OperationDenied.UnsupportedPhase", ErrorKind::Refused},
      Row{"ark", 403, "OperationDenied.FileQuotaExceeded", ErrorKind::Refused},
      Row{"ark", 403, "OperationDenied.TosAccessDenied", ErrorKind::Refused},
      Row{"ark", 403, "OperationDenied.ArkAccessRoleNotFound", ErrorKind::ModelMissing},
      Row{"ark", 403, "OperationDenied.ServiceNotOpen", ErrorKind::ModelMissing},
      Row{"ark", 403, "OperationDenied.ServiceOverdue", ErrorKind::QuotaExhausted},
      Row{"ark", 429, "SetLimitExceeded", ErrorKind::ModelMissing},
      Row{"ark", 429, "QuotaExceeded", ErrorKind::RateLimited},
      Row{"ark", 429, "AccountQuotaExceeded", ErrorKind::QuotaExhausted},
      Row{"ark", 429, "RequestBurstTooFast", ErrorKind::Overloaded},
      Row{"ark", 400, "InvalidSubscription", ErrorKind::QuotaExhausted},
      Row{"ark", 400, "InvalidEndpoint.ClosedEndpoint", ErrorKind::ModelMissing},
      Row{"zhipu", 429, "1304", ErrorKind::QuotaExhausted},
      Row{"zhipu", 429, "1309", ErrorKind::QuotaExhausted},
      Row{"zhipu", 429, "1311", ErrorKind::ModelMissing},
      Row{"zhipu", 429, "1312", ErrorKind::Overloaded},
      Row{"zhipu", 429, "1305", ErrorKind::Overloaded},
      Row{"zhipu", 429, "1313", ErrorKind::RateLimited},
      Row{"zhipu", 401, "1110", ErrorKind::CredentialDead},
      Row{"zhipu", 429, "1110", ErrorKind::CredentialDead},
      Row{"zhipu", 429, "1111", ErrorKind::CredentialDead},
      Row{"zhipu", 400, "1261", ErrorKind::Refused},
  };
  for (const Row& row : kRows) {
    const std::string body = R"({"error":{"code":")" + std::string(row.code) + R"(","message":"words"}})";
    const Error error = classify(row.provider, row.status, body);
    EXPECT_EQ(to_string(error.kind), to_string(row.kind)) << row.provider << " " << row.code;
    EXPECT_EQ(error.code, row.code);
    EXPECT_EQ(error.message, "words");
  }
}

TEST(UpstreamError, ACallerCannotTakeOurKeyOutOfService) {
  const Error error = classify(
      "openai", 400,
      R"({"error":{"message":"Invalid name: 'incorrect api key provided' is no tool name","code":null}})");
  EXPECT_EQ(error.kind, ErrorKind::Refused);
}

TEST(UpstreamError, A403IsAboutTheKeyOnlyWhereItSaysSo) {
  const std::vector<std::pair<std::string, ErrorKind>> cases = {
      {"Your API key was reported as leaked. Please use another API key.", ErrorKind::CredentialDead},
      {"Permission denied: Consumer 'projects/1' has been suspended.", ErrorKind::CredentialDead},
      {"Your account has been deactivated", ErrorKind::CredentialDead},
      {"This organization has been disabled.", ErrorKind::CredentialDead},
      {"The security token included in the request is invalid", ErrorKind::CredentialDead},
      {"You do not have permission to access the File abc or it may not exist.", ErrorKind::Forbidden},
      {"Your API key does not have permission to use the specified resource.", ErrorKind::Forbidden},
      {"Web search is not enabled for your organization", ErrorKind::Forbidden},
      {"The caller does not have permission", ErrorKind::Forbidden},
      {"", ErrorKind::Forbidden},
      {"Your API key may not use the model gpt-x", ErrorKind::ModelMissing},
      {"Your account was flagged for potential abuse", ErrorKind::CredentialDead},
      {"This account is under moderation", ErrorKind::CredentialDead},
      {"Your input was flagged by your organization", ErrorKind::Forbidden},
  };
  for (const auto& [words, kind] : cases) {
    const Error error = classify("openai", 403, R"({"error":{"message":")" + words + R"("}})");
    EXPECT_EQ(to_string(error.kind), to_string(kind)) << words;
  }
}

TEST(UpstreamError, OpenRoutersModerationIsAboutThePromptUnlessItNamesTheAccount) {
  const std::vector<std::pair<std::string, ErrorKind>> cases = {
      {"a/model requires moderation on a provider. Your input was flagged.", ErrorKind::Refused},
      {"Your account was flagged", ErrorKind::CredentialDead},
      {"This account is under moderation", ErrorKind::CredentialDead},
  };
  for (const auto& [words, kind] : cases) {
    const Error error = classify("openrouter", 403, R"({"error":{"code":403,"message":")" + words + R"("}})");
    EXPECT_EQ(to_string(error.kind), to_string(kind)) << words;
  }
}

TEST(UpstreamError, UsedUpCreditsAreBelievedOnlyWithAStatusAboutTheAccount) {
  const auto kind = [](int status, std::string_view words) {
    return classify("xai", status, R"({"error":")" + std::string(words) + R"("})").kind;
  };
  constexpr std::string_view kUsed = "Your team x has used all available credits";
  for (const int status : {402, 403, 429}) EXPECT_EQ(kind(status, kUsed), ErrorKind::QuotaExhausted);
  EXPECT_EQ(kind(403, "Your newly created team doesn't have any credits yet"), ErrorKind::QuotaExhausted);
  EXPECT_EQ(kind(400, "Your tool 'used all available credits' has no name"), ErrorKind::Refused);
  EXPECT_EQ(kind(422, kUsed), ErrorKind::Refused);
}

TEST(UpstreamError, ANumberThatACallerHadQuotedIsNotMiniMaxsOwn) {
  EXPECT_EQ(
      classify("minimax", 400, R"j({"error":{"message":"no such tool: (2049)","http_code":"400"}})j").kind,
      ErrorKind::Refused);
  EXPECT_EQ(
      classify("minimax", 500, R"j({"error":{"type":"bad_request_error","message":"no such tool: (1008)"}})j")
          .kind,
      ErrorKind::Refused);
  EXPECT_EQ(classify("minimax", 500, R"({"error":{"message":"of 'insufficient balance (1008)'"}})").kind,
            ErrorKind::ServerError)
      << "only at the end";
}

TEST(UpstreamError, WaitsAsLongAsGoogleAsksForALimitAMinute) {
  const Error error = classify(
      "openai_compatible", 429,
      R"({"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[)"
      R"({"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"retryDelay":"34s"}]}})");
  EXPECT_EQ(error.kind, ErrorKind::RateLimited);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(34));
}

TEST(UpstreamError, KeepsTheWholeErrorObjectForTheCaller) {
  const Error error =
      classify("azure_openai", 400, R"({"error": {"code":"content_filter","innererror":{"a":[1]}}, "x":1})");
  EXPECT_EQ(error.object, R"({"code":"content_filter","innererror":{"a":[1]}})");
}

TEST(UpstreamError, MasksKeysInMessageAndObject) {
  const Error error = classify(
      "openai", 401,
      R"({"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijkl123","code":"invalid_api_key"}})");
  EXPECT_EQ(error.message, "Incorrect API key provided: sk-****");
  EXPECT_EQ(error.object.find("abcdefghijkl"), std::string::npos);
}

TEST(UpstreamError, CutsLongMessagesBetweenCharacters) {
  std::string words;
  for (int i = 0; i < 2000; ++i) words += "鹊";
  const Error error = classify("openai", 400, R"({"error":{"message":")" + words + R"("}})");
  EXPECT_LE(error.message.size(), 2048U + 3U);
  EXPECT_TRUE(error.message.ends_with("鹊…"));
}

TEST(UpstreamError, CarriesTheWaitOnlyWhereItMeansSomething) {
  wire::Fields fields;
  fields.add({"retry-after", "20"});
  EXPECT_EQ(classify_reply("openai", 429, fields, "", kNow).retry_after, std::chrono::seconds(20));
  EXPECT_EQ(classify_reply("openai", 503, fields, "", kNow).retry_after, std::chrono::seconds(20));
  EXPECT_EQ(classify_reply("openai", 400, fields, "", kNow).retry_after, std::nullopt);
}

TEST(UpstreamError, MasksBeforeItCuts) {
  const std::string key = "0123456789abcdef0123456789abcdef";
  const Error by_message =
      classify("openai", 400, R"({"error":{"message":")" + std::string(2030, '.') + key + R"("}})");
  EXPECT_EQ(by_message.message.find("0123456789"), std::string::npos) << "half a key looks like none";
  const Error by_body = classify("openai", 500, std::string(180, '.') + key);
  EXPECT_EQ(by_body.message.find("0123456789"), std::string::npos);
}

TEST(UpstreamError, NeitherMaskingNorCuttingLeavesAPartOfOurCredential) {
  constexpr std::string_view kCredential = "plain/0123456789abcdef0123456789abcdef=secret";
  const auto said = [&](int status, const std::string& body) {
    const wire::Fields none;
    return classify_reply("openai", status, none, body, kNow, kCredential);
  };
  const auto quoted = [](const std::string& words) { return R"({"error":{"message":")" + words + R"("}})"; };
  const std::string credential(kCredential);
  EXPECT_EQ(said(400, quoted("no " + credential)).message, "no ****");
  EXPECT_EQ(said(400, quoted("no " + credential)).object, R"({"message":"no ****"})");
  const std::string escaped = "plain\\/" + credential.substr(6);
  EXPECT_EQ(said(400, quoted("no " + escaped)).message, "no ****");
  EXPECT_EQ(said(400, quoted("no " + escaped)).object, "");
  const std::string dots(2038, '.');
  EXPECT_EQ(said(400, quoted(dots + credential)).message, dots + "****");
  EXPECT_EQ(said(400, quoted(dots + escaped)).message, dots + "****");
  const std::string with = "the provider answered with status 500";
  EXPECT_EQ(said(500, "no " + credential.substr(0, 8)).message, with + ": no ****") << "the body may be cut";
  EXPECT_EQ(said(500, "no " + credential.substr(0, 7)).message, with + ": no plain/0") << "no secret";
  EXPECT_EQ(said(500, R"({"error":")" + escaped).message, with + " and JSON that breaks off");
}

}  // namespace
}  // namespace qq::providers
