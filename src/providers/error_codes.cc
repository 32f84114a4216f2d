#include "providers/error_codes.h"

#include <array>
#include <span>

#include "wire/http_head.h"

namespace qq::providers {
namespace {

// First match wins, and a provider's own come before the common ones. What a caller's content can provoke is
// Refused or ModelMissing here, whatever its status: no caller may take an account out of service or open a
// breaker.
struct CodeMeaning {
  std::string_view code;  // compared with `code` and `type`; a '*' at its end stands for any rest
  ErrorKind meaning;
  // Where one code has several meanings: how the message begins and, behind a '*', what it goes on to say.
  // The beginning is the provider's; further on a message may quote the caller.
  std::string_view words{};
};

constexpr auto kZhipu = std::to_array<CodeMeaning>({
    {"1113", ErrorKind::QuotaExhausted},
    {"1304", ErrorKind::QuotaExhausted},
    {"1308", ErrorKind::QuotaExhausted},
    {"1309", ErrorKind::QuotaExhausted},
    {"1310", ErrorKind::QuotaExhausted},
    {"1110", ErrorKind::CredentialDead},
    {"1111", ErrorKind::CredentialDead},
    {"1112", ErrorKind::CredentialDead},
    {"1121", ErrorKind::CredentialDead},
    {"1302", ErrorKind::RateLimited},
    {"1303", ErrorKind::RateLimited},
    {"1313", ErrorKind::RateLimited},
    {"1305", ErrorKind::Overloaded},
    {"1312", ErrorKind::Overloaded},
    {"1211", ErrorKind::ModelMissing},
    {"1311", ErrorKind::ModelMissing},  // not in the plan, on a 429
    {"1261", ErrorKind::Refused},       // prompt too long
    {"1301", ErrorKind::Refused},       // unsafe content
});

constexpr auto kMinimax = std::to_array<CodeMeaning>({
    // The type stands before the numbers: words about a bad request may quote one of the caller's choice.
    {"bad_request_error", ErrorKind::Refused},
    {"1026", ErrorKind::Refused},  // sensitive input
    {"1027", ErrorKind::Refused},  // sensitive output
    {"1042", ErrorKind::Refused},  // too many invisible characters
    {"2013", ErrorKind::Refused},
    {"1008", ErrorKind::QuotaExhausted},
    {"2056", ErrorKind::QuotaExhausted},  // the plan's limit until a reset
    {"1004", ErrorKind::CredentialDead},
    {"2049", ErrorKind::CredentialDead},
    {"1002", ErrorKind::RateLimited},
    {"1039", ErrorKind::RateLimited},
});

constexpr auto kQwen = std::to_array<CodeMeaning>({
    // A coding plan's hours, week or month are used up.
    {"*", ErrorKind::QuotaExhausted, "hour allocated quota exceeded"},
    {"*", ErrorKind::QuotaExhausted, "week allocated quota exceeded"},
    {"*", ErrorKind::QuotaExhausted, "month allocated quota exceeded"},
    // DashScope's word for tokens a minute; it recovers within one.
    {"insufficient_quota", ErrorKind::RateLimited},
    {"PrepaidBillOverdue", ErrorKind::QuotaExhausted},
    {"PostpaidBillOverdue", ErrorKind::QuotaExhausted},
    {"CommodityNotPurchased", ErrorKind::QuotaExhausted},
});

constexpr auto kArk = std::to_array<CodeMeaning>({
    // Its 403 is about files, caches and rights of single resources, seldom about the key.
    {"OperationDenied.ServiceOverdue", ErrorKind::QuotaExhausted},
    {"InvalidSubscription", ErrorKind::QuotaExhausted},  // on a 400
    {"AccessDenied", ErrorKind::ModelMissing},
    {"OperationDenied.ServiceNotOpen", ErrorKind::ModelMissing},
    {"OperationDenied.ArkAccessRoleNotFound", ErrorKind::ModelMissing},
    {"OperationDenied.*", ErrorKind::Refused},
    {"SetLimitExceeded", ErrorKind::ModelMissing},  // paused by its owner's limit, on a 429
    {"InvalidEndpoint.ClosedEndpoint", ErrorKind::ModelMissing},
    // On a 429: a model's free trial or a plan's hours, week or month are used up; else too many tasks wait.
    {"QuotaExceeded", ErrorKind::ModelMissing, "Your account*free trial quota"},
    {"QuotaExceeded", ErrorKind::QuotaExhausted, "You have exceeded the*usage quota"},
    {"QuotaExceeded", ErrorKind::RateLimited},
    {"AccountQuotaExceeded", ErrorKind::QuotaExhausted},
    {"QuotaExceeded.AgentPlanQuotaExceeded", ErrorKind::QuotaExhausted},
    {"RequestBurstTooFast", ErrorKind::Overloaded},
    {"SensitiveContentDetected*", ErrorKind::Refused},
    {"InputTextSensitiveContentDetected*", ErrorKind::Refused},
    {"InputImageSensitiveContentDetected*", ErrorKind::Refused},
    {"OutputTextSensitiveContentDetected*", ErrorKind::Refused},
});

constexpr auto kQianfan = std::to_array<CodeMeaning>({
    {"account_overdue", ErrorKind::QuotaExhausted},  // on a 403
    {"unsafe_request", ErrorKind::Refused},          // on a 403
    {"system_unsafe", ErrorKind::Refused},
    {"user_setting_unsafe", ErrorKind::Refused},
    {"functions_unsafe", ErrorKind::Refused},
    {"no_parameter_permission", ErrorKind::Refused},  // on a 401
});

constexpr auto kPerplexity = std::to_array<CodeMeaning>({
    // A live key at an endpoint that was retired, on a 403.
    {"chat_completions_not_available", ErrorKind::ModelMissing},
    {"agent_api_migration_required", ErrorKind::ModelMissing},
});

constexpr auto kAnthropic = std::to_array<CodeMeaning>({
    // Money, limits that an operator has set for himself, and accounts that are shut, all on a 400.
    {"invalid_request_error", ErrorKind::QuotaExhausted, "Your credit balance is too low"},
    {"invalid_request_error", ErrorKind::QuotaExhausted, "You have reached your specified API usage limits"},
    {"invalid_request_error", ErrorKind::CredentialDead, "This organization has been disabled"},
    {"permission_error", ErrorKind::CredentialDead, "This organization has been disabled"},
    // A request that is long enough to need another plan, on a 429.
    {"rate_limit_error", ErrorKind::Refused, "Usage credits are required for long context"},
    {"rate_limit_error", ErrorKind::Refused, "Extra usage is required for long context"},
    {"billing_error", ErrorKind::QuotaExhausted},
    {"authentication_error", ErrorKind::CredentialDead},
    {"request_too_large", ErrorKind::Refused},
    {"timeout_error", ErrorKind::ServerError},
});

// Of Google's, `reason` says more than `status`.
constexpr auto kGoogle = std::to_array<CodeMeaning>({
    {"API_KEY_*",
     ErrorKind::CredentialDead},  // invalid, expired, blocked for the service, the address, the referrer
    {"SERVICE_DISABLED", ErrorKind::CredentialDead},
    {"CONSUMER_INVALID", ErrorKind::CredentialDead},
    {"CONSUMER_SUSPENDED", ErrorKind::CredentialDead},
    {"ACCOUNT_STATE_INVALID", ErrorKind::CredentialDead},
    {"USER_PROJECT_DENIED", ErrorKind::CredentialDead},
    {"ACCESS_TOKEN_*", ErrorKind::CredentialDead},
    {"BILLING_DISABLED", ErrorKind::QuotaExhausted},
    // On a 400: where we are, and whether somebody pays.
    {"FAILED_PRECONDITION", ErrorKind::CredentialDead, "User location is not supported"},
    {"FAILED_PRECONDITION", ErrorKind::QuotaExhausted, "Gemini API free tier is not available"},
});

// By the exception's name. Those that are no Bedrock's own are AWS's common ones.
constexpr auto kBedrock = std::to_array<CodeMeaning>({
    {"ThrottlingException", ErrorKind::QuotaExhausted, "Too many tokens per day"},
    {"ThrottlingException", ErrorKind::RateLimited},
    {"ServiceQuotaExceededException", ErrorKind::QuotaExhausted},  // on a 400
    {"UnrecognizedClientException", ErrorKind::CredentialDead},
    {"ExpiredTokenException", ErrorKind::CredentialDead},
    {"InvalidSignatureException", ErrorKind::CredentialDead},
    {"IncompleteSignature*", ErrorKind::CredentialDead},
    {"InvalidClientTokenId", ErrorKind::CredentialDead},
    {"MissingAuthenticationToken*", ErrorKind::CredentialDead},
    {"ResourceNotFoundException", ErrorKind::ModelMissing},
    {"ValidationException", ErrorKind::ModelMissing, "The provided model identifier is invalid"},
    {"ValidationException", ErrorKind::ModelMissing, "Invocation of model ID*on-demand throughput"},
    {"ValidationException", ErrorKind::Refused},
    {"ModelNotReadyException", ErrorKind::Overloaded},  // on a 429
    {"ServiceUnavailableException", ErrorKind::Overloaded},
    // On a 424, a 408 and a 500, and in streams, which have no status.
    {"ModelErrorException", ErrorKind::ServerError},
    {"ModelStreamErrorException", ErrorKind::ServerError},
    {"ModelTimeoutException", ErrorKind::ServerError},
    {"InternalServerException", ErrorKind::ServerError},
});

constexpr auto kCohere = std::to_array<CodeMeaning>({
    {"*", ErrorKind::QuotaExhausted, "You are using a Trial key*/ month"},
    {"TOO_MANY_TOKENS", ErrorKind::Refused},
});

bool is_google(std::string_view kind) noexcept {
  return kind == "gemini" || kind == "vertex";
}
bool is_anthropic(std::string_view kind) noexcept {
  return kind == "anthropic" || kind == "anthropic_compatible";
}
bool is_bedrock(std::string_view kind) noexcept {
  return kind == "bedrock" || kind == "bedrock_anthropic";
}

std::span<const CodeMeaning> own_codes(std::string_view kind, const ErrorBody& body) noexcept {
  // Claude on Vertex has Anthropic's errors and Google's around them: of its quotas, accounts and names.
  if (is_google(kind) || (kind == "vertex_anthropic" && is_digits(body.code))) return kGoogle;
  if (is_anthropic(kind) || kind == "vertex_anthropic") return kAnthropic;
  if (is_bedrock(kind)) return kBedrock;
  if (kind == "cohere") return kCohere;
  if (kind == "zhipu") return kZhipu;
  if (kind == "minimax") return kMinimax;
  if (kind == "qwen") return kQwen;
  if (kind == "ark") return kArk;
  if (kind == "qianfan") return kQianfan;
  if (kind == "perplexity") return kPerplexity;
  return {};
}

constexpr auto kCommonCodes = std::to_array<CodeMeaning>({
    // Money and quotas that waiting does not cure.
    {"insufficient_quota", ErrorKind::QuotaExhausted},
    {"billing_hard_limit_reached", ErrorKind::QuotaExhausted},
    {"billing_not_active", ErrorKind::QuotaExhausted},
    {"exceeded_current_quota_error", ErrorKind::QuotaExhausted},  // Moonshot
    {"Arrearage", ErrorKind::QuotaExhausted},                     // Qwen, on a 400
    {"AccountOverdueError", ErrorKind::QuotaExhausted},           // Ark, on a 403
    // Keys and accounts that are refused, also on a 400.
    {"invalid_api_key", ErrorKind::CredentialDead},
    {"InvalidApiKey", ErrorKind::CredentialDead},
    {"account_deactivated", ErrorKind::CredentialDead},
    {"API_KEY_INVALID", ErrorKind::CredentialDead},
    // Where we are, not what was asked; on a 403.
    {"unsupported_country_region_territory", ErrorKind::CredentialDead},
    // Limits that pass with time, but for a request that is larger than they are (is_larger_than_a_limit).
    {"rate_limit_exceeded", ErrorKind::RateLimited},
    {"RateLimitReached", ErrorKind::RateLimited},
    {"limit_requests", ErrorKind::RateLimited},
    {"rate_limit_error", ErrorKind::RateLimited},
    // The provider as a whole is busy, whatever the status.
    {"overloaded_error", ErrorKind::Overloaded},
    {"engine_overloaded_error", ErrorKind::Overloaded},  // Moonshot, on a 429
    {"ServerOverloaded", ErrorKind::Overloaded},         // Ark, on a 429
    // Models that are not there.
    {"model_not_found", ErrorKind::ModelMissing},
    {"DeploymentNotFound", ErrorKind::ModelMissing},
    {"ModelNotFound", ErrorKind::ModelMissing},
    {"InvalidEndpointOrModel.NotFound", ErrorKind::ModelMissing},  // Ark
    {"invalid_model", ErrorKind::ModelMissing},                    // Mistral
    // The caller's own doing under a status that says otherwise (OpenRouter's moderation is a 403).
    {"content_filter", ErrorKind::Refused},
    {"content_policy_violation", ErrorKind::Refused},
    {"data_inspection_failed", ErrorKind::Refused},
    {"DataInspectionFailed", ErrorKind::Refused},
    {"tool_use_failed", ErrorKind::Refused},
    {"context_length_exceeded", ErrorKind::Refused},
    // The same where there is no status: what OpenAI's responses fail with (ResponseError of its SDK).
    {"invalid_prompt", ErrorKind::Refused},
    {"bio_policy", ErrorKind::Refused},
    {"misalignment_policy_violation", ErrorKind::Refused},
    {"invalid_image*", ErrorKind::Refused},
    {"invalid_base64_image", ErrorKind::Refused},
    {"image_parse_error", ErrorKind::Refused},
    {"image_content_policy_violation", ErrorKind::Refused},
    {"image_too_large", ErrorKind::Refused},
    {"image_too_small", ErrorKind::Refused},
    {"image_file_too_large", ErrorKind::Refused},
    {"image_file_not_found", ErrorKind::Refused},
    {"empty_image_file", ErrorKind::Refused},
    {"unsupported_image_media_type", ErrorKind::Refused},
    {"failed_to_download_image", ErrorKind::Refused},
});

// MiniMax's number stands behind its words: "insufficient balance (1008)". Not so on a 400, which may quote
// the caller to its very end.
std::string_view number_at_end(std::string_view kind, int status, std::string_view message) noexcept {
  if (kind != "minimax" || status == 400 || !message.ends_with(')')) return {};
  message.remove_suffix(1);
  const std::size_t open = message.rfind('(');
  if (open == std::string_view::npos) return {};
  const std::string_view number = message.substr(open + 1);
  return is_digits(number) ? number : std::string_view{};
}

bool names(std::string_view code, std::string_view said) noexcept {
  if (!code.ends_with('*')) return code == said;
  code.remove_suffix(1);
  return said.starts_with(code);
}

bool says(std::string_view words, std::string_view message) noexcept {
  const std::string_view beginning = words.substr(0, words.find('*'));
  if (!message.starts_with(beginning)) return false;
  return beginning.size() == words.size() ||
         message.find(words.substr(beginning.size() + 1), beginning.size()) != std::string_view::npos;
}

// One request for more tokens than the account may have in a minute, on Groq's 413 or OpenAI's 429 ("Request
// too large for gpt-4o"): no wait makes it smaller, and others' requests are not refused with it.
bool is_larger_than_a_limit(int status, std::string_view message) noexcept {
  constexpr std::string_view kBeginning = "request too large";
  return status == 413 || wire::iequals(message.substr(0, kBeginning.size()), kBeginning);
}

}  // namespace

bool begins_as_context_overflow(std::string_view kind, const ErrorBody& body,
                                std::string_view message) noexcept {
  const auto begins = [message](std::string_view words) { return says(words, message); };
  if (is_google(kind)) return begins("the input token count*exceeds the maximum number of tokens");
  if (kind == "cohere") return body.code == "TOO_MANY_TOKENS" || begins("too many tokens");
  if (kind == "ollama_native") {
    return begins("the input length exceeds the context length") || begins("prompt too long");
  }
  if (!is_anthropic(kind) && !is_bedrock(kind) && kind != "vertex_anthropic") return false;
  return begins("prompt is too long") || begins("input length and `max_tokens` exceed context limit") ||
         begins("input is too long") ||
         begins("the model returned the following errors: input is too long") ||
         begins("the model returned the following errors: prompt is too long");
}

std::optional<ErrorKind> meaning_of_code(std::string_view kind, int status, const ErrorBody& body) noexcept {
  const std::string_view number = number_at_end(kind, status, body.message);
  // Bedrock's streams write the names of exceptions with a small letter.
  const std::string type = is_bedrock(kind) ? aws_exception(body.type) : body.type;
  for (const CodeMeaning& own : own_codes(kind, body)) {
    if (!says(own.words, body.message)) continue;
    if (names(own.code, body.code) || names(own.code, type) || names(own.code, number) ||
        names(own.code, body.reason)) {
      return own.meaning;
    }
  }
  for (const CodeMeaning& common : kCommonCodes) {
    if (!names(common.code, body.code) && !names(common.code, body.type)) continue;
    const bool is_limit = common.meaning == ErrorKind::RateLimited;
    return is_limit && is_larger_than_a_limit(status, body.message) ? ErrorKind::Refused : common.meaning;
  }
  return std::nullopt;
}

}  // namespace qq::providers
