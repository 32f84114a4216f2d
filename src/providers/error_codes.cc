#include "providers/error_codes.h"

#include <array>

#include "wire/http_head.h"

namespace qq::providers {
namespace {

struct CodeMeaning {
  std::string_view code;  // compared with `code` and `type`; a '*' at its end stands for any rest
  ErrorKind meaning;
};
struct OwnCodeMeaning {
  std::string_view kind;  // entry of the catalogue
  std::string_view code;
  ErrorKind meaning;
};

// What a caller's content can provoke is Refused or ModelMissing here, whatever its status: no caller may
// take an account out of service or open a breaker.
//
// First match wins, and these come before the common ones.
constexpr std::array kOwnCodes = {
    OwnCodeMeaning{"zhipu", "1113", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"zhipu", "1304", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"zhipu", "1308", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"zhipu", "1309", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"zhipu", "1310", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"zhipu", "1110", ErrorKind::CredentialDead},
    OwnCodeMeaning{"zhipu", "1111", ErrorKind::CredentialDead},
    OwnCodeMeaning{"zhipu", "1112", ErrorKind::CredentialDead},
    OwnCodeMeaning{"zhipu", "1121", ErrorKind::CredentialDead},
    OwnCodeMeaning{"zhipu", "1302", ErrorKind::RateLimited},
    OwnCodeMeaning{"zhipu", "1303", ErrorKind::RateLimited},
    OwnCodeMeaning{"zhipu", "1313", ErrorKind::RateLimited},
    OwnCodeMeaning{"zhipu", "1305", ErrorKind::Overloaded},
    OwnCodeMeaning{"zhipu", "1312", ErrorKind::Overloaded},
    OwnCodeMeaning{"zhipu", "1211", ErrorKind::ModelMissing},
    OwnCodeMeaning{"zhipu", "1311", ErrorKind::ModelMissing},  // not in the plan, on a 429
    OwnCodeMeaning{"zhipu", "1261", ErrorKind::Refused},       // prompt too long
    OwnCodeMeaning{"zhipu", "1301", ErrorKind::Refused},       // unsafe content

    // The type stands before the numbers: words about a bad request may quote one of the caller's choice.
    OwnCodeMeaning{"minimax", "bad_request_error", ErrorKind::Refused},
    OwnCodeMeaning{"minimax", "1026", ErrorKind::Refused},  // sensitive input
    OwnCodeMeaning{"minimax", "1027", ErrorKind::Refused},  // sensitive output
    OwnCodeMeaning{"minimax", "1042", ErrorKind::Refused},  // too many invisible characters
    OwnCodeMeaning{"minimax", "2013", ErrorKind::Refused},
    OwnCodeMeaning{"minimax", "1008", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"minimax", "2056", ErrorKind::QuotaExhausted},  // the plan's limit until a reset
    OwnCodeMeaning{"minimax", "1004", ErrorKind::CredentialDead},
    OwnCodeMeaning{"minimax", "2049", ErrorKind::CredentialDead},
    OwnCodeMeaning{"minimax", "1002", ErrorKind::RateLimited},
    OwnCodeMeaning{"minimax", "1039", ErrorKind::RateLimited},

    // DashScope's word for tokens a minute; it recovers within one.
    OwnCodeMeaning{"qwen", "insufficient_quota", ErrorKind::RateLimited},
    OwnCodeMeaning{"qwen", "PrepaidBillOverdue", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"qwen", "PostpaidBillOverdue", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"qwen", "CommodityNotPurchased", ErrorKind::QuotaExhausted},

    // Its 403 is about files, caches and rights of single resources, seldom about the key.
    OwnCodeMeaning{"ark", "OperationDenied.ServiceOverdue", ErrorKind::QuotaExhausted},
    OwnCodeMeaning{"ark", "InvalidSubscription", ErrorKind::QuotaExhausted},  // on a 400
    OwnCodeMeaning{"ark", "AccessDenied", ErrorKind::ModelMissing},
    OwnCodeMeaning{"ark", "OperationDenied.ServiceNotOpen", ErrorKind::ModelMissing},
    OwnCodeMeaning{"ark", "OperationDenied.ArkAccessRoleNotFound", ErrorKind::ModelMissing},
    OwnCodeMeaning{"ark", "OperationDenied.*", ErrorKind::Refused},
    OwnCodeMeaning{"ark", "SetLimitExceeded",
                   ErrorKind::ModelMissing},  // paused by its owner's limit, on a 429
    OwnCodeMeaning{"ark", "InvalidEndpoint.ClosedEndpoint", ErrorKind::ModelMissing},
    OwnCodeMeaning{"ark", "RequestBurstTooFast", ErrorKind::Overloaded},
    OwnCodeMeaning{"ark", "SensitiveContentDetected*", ErrorKind::Refused},
    OwnCodeMeaning{"ark", "InputTextSensitiveContentDetected*", ErrorKind::Refused},
    OwnCodeMeaning{"ark", "InputImageSensitiveContentDetected*", ErrorKind::Refused},
    OwnCodeMeaning{"ark", "OutputTextSensitiveContentDetected*", ErrorKind::Refused},

    OwnCodeMeaning{"qianfan", "account_overdue", ErrorKind::QuotaExhausted},  // on a 403
    OwnCodeMeaning{"qianfan", "unsafe_request", ErrorKind::Refused},          // on a 403
    OwnCodeMeaning{"qianfan", "system_unsafe", ErrorKind::Refused},
    OwnCodeMeaning{"qianfan", "user_setting_unsafe", ErrorKind::Refused},
    OwnCodeMeaning{"qianfan", "functions_unsafe", ErrorKind::Refused},
    OwnCodeMeaning{"qianfan", "no_parameter_permission", ErrorKind::Refused},  // on a 401

    // A live key at an endpoint that was retired, on a 403.
    OwnCodeMeaning{"perplexity", "chat_completions_not_available", ErrorKind::ModelMissing},
    OwnCodeMeaning{"perplexity", "agent_api_migration_required", ErrorKind::ModelMissing},
};

constexpr std::array kCommonCodes = {
    // Money and quotas that waiting does not cure.
    CodeMeaning{"insufficient_quota", ErrorKind::QuotaExhausted},
    CodeMeaning{"billing_hard_limit_reached", ErrorKind::QuotaExhausted},
    CodeMeaning{"billing_not_active", ErrorKind::QuotaExhausted},
    CodeMeaning{"exceeded_current_quota_error", ErrorKind::QuotaExhausted},  // Moonshot
    CodeMeaning{"Arrearage", ErrorKind::QuotaExhausted},                     // Qwen, on a 400
    CodeMeaning{"AccountOverdueError", ErrorKind::QuotaExhausted},           // Ark, on a 403
    // Keys and accounts that are refused, also on a 400.
    CodeMeaning{"invalid_api_key", ErrorKind::CredentialDead},
    CodeMeaning{"InvalidApiKey", ErrorKind::CredentialDead},
    CodeMeaning{"account_deactivated", ErrorKind::CredentialDead},
    CodeMeaning{"API_KEY_INVALID", ErrorKind::CredentialDead},
    // Where we are, not what was asked; on a 403.
    CodeMeaning{"unsupported_country_region_territory", ErrorKind::CredentialDead},
    // Limits that pass with time, but for a request that is larger than they are (is_larger_than_a_limit).
    CodeMeaning{"rate_limit_exceeded", ErrorKind::RateLimited},
    CodeMeaning{"RateLimitReached", ErrorKind::RateLimited},
    CodeMeaning{"limit_requests", ErrorKind::RateLimited},
    CodeMeaning{"rate_limit_error", ErrorKind::RateLimited},
    // The provider as a whole is busy, whatever the status.
    CodeMeaning{"overloaded_error", ErrorKind::Overloaded},
    CodeMeaning{"engine_overloaded_error", ErrorKind::Overloaded},  // Moonshot, on a 429
    CodeMeaning{"ServerOverloaded", ErrorKind::Overloaded},         // Ark, on a 429
    // Models that are not there.
    CodeMeaning{"model_not_found", ErrorKind::ModelMissing},
    CodeMeaning{"DeploymentNotFound", ErrorKind::ModelMissing},
    CodeMeaning{"ModelNotFound", ErrorKind::ModelMissing},
    CodeMeaning{"InvalidEndpointOrModel.NotFound", ErrorKind::ModelMissing},  // Ark
    CodeMeaning{"invalid_model", ErrorKind::ModelMissing},                    // Mistral
    // The caller's own doing under a status that says otherwise (OpenRouter's moderation is a 403).
    CodeMeaning{"content_filter", ErrorKind::Refused},
    CodeMeaning{"content_policy_violation", ErrorKind::Refused},
    CodeMeaning{"data_inspection_failed", ErrorKind::Refused},
    CodeMeaning{"DataInspectionFailed", ErrorKind::Refused},
    CodeMeaning{"tool_use_failed", ErrorKind::Refused},
    CodeMeaning{"context_length_exceeded", ErrorKind::Refused},
    // The same where there is no status: what OpenAI's responses fail with (ResponseError of its SDK).
    CodeMeaning{"invalid_prompt", ErrorKind::Refused},
    CodeMeaning{"bio_policy", ErrorKind::Refused},
    CodeMeaning{"misalignment_policy_violation", ErrorKind::Refused},
    CodeMeaning{"invalid_image*", ErrorKind::Refused},
    CodeMeaning{"invalid_base64_image", ErrorKind::Refused},
    CodeMeaning{"image_parse_error", ErrorKind::Refused},
    CodeMeaning{"image_content_policy_violation", ErrorKind::Refused},
    CodeMeaning{"image_too_large", ErrorKind::Refused},
    CodeMeaning{"image_too_small", ErrorKind::Refused},
    CodeMeaning{"image_file_too_large", ErrorKind::Refused},
    CodeMeaning{"image_file_not_found", ErrorKind::Refused},
    CodeMeaning{"empty_image_file", ErrorKind::Refused},
    CodeMeaning{"unsupported_image_media_type", ErrorKind::Refused},
    CodeMeaning{"failed_to_download_image", ErrorKind::Refused},
};

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

// One request for more tokens than the account may have in a minute, on Groq's 413 or OpenAI's 429 ("Request
// too large for gpt-4o"): no wait makes it smaller, and others' requests are not refused with it.
bool is_larger_than_a_limit(int status, std::string_view message) noexcept {
  constexpr std::string_view kBeginning = "request too large";
  return status == 413 || wire::iequals(message.substr(0, kBeginning.size()), kBeginning);
}

}  // namespace

std::optional<ErrorKind> meaning_of_code(std::string_view kind, int status, const ErrorBody& body) noexcept {
  const std::string_view number = number_at_end(kind, status, body.message);
  for (const OwnCodeMeaning& own : kOwnCodes) {
    if (own.kind != kind) continue;
    if (names(own.code, body.code) || names(own.code, body.type) || names(own.code, number)) {
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
