#include "providers/upstream_error.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "providers/error_body.h"
#include "providers/masking.h"

namespace qq::providers {
namespace {

constexpr std::size_t kMessageMax = 2048;
constexpr std::size_t kObjectMax = 64 * 1024;

// ---- The providers' own codes, where they say more than the status. ---------------------------------------

struct CodeMeaning {
  std::string_view kind;  // entry of the catalogue; empty: any
  std::string_view code;  // compared with `code` and `type`
  ErrorKind meaning;
};

constexpr std::array kCodes = {
    // Money and quotas that waiting does not cure.
    CodeMeaning{"", "insufficient_quota", ErrorKind::QuotaExhausted},
    CodeMeaning{"", "billing_hard_limit_reached", ErrorKind::QuotaExhausted},
    CodeMeaning{"", "billing_not_active", ErrorKind::QuotaExhausted},
    CodeMeaning{"", "exceeded_current_quota_error", ErrorKind::QuotaExhausted},  // Moonshot
    CodeMeaning{"", "Arrearage", ErrorKind::QuotaExhausted},                     // Qwen, on a 400
    CodeMeaning{"", "AccountOverdueError", ErrorKind::QuotaExhausted},           // Ark, on a 403
    CodeMeaning{"zhipu", "1113", ErrorKind::QuotaExhausted},
    CodeMeaning{"zhipu", "1308", ErrorKind::QuotaExhausted},
    CodeMeaning{"zhipu", "1310", ErrorKind::QuotaExhausted},
    CodeMeaning{"minimax", "1008", ErrorKind::QuotaExhausted},
    // Keys and accounts that are refused, also on a 400.
    CodeMeaning{"", "invalid_api_key", ErrorKind::CredentialDead},
    CodeMeaning{"", "InvalidApiKey", ErrorKind::CredentialDead},
    CodeMeaning{"", "account_deactivated", ErrorKind::CredentialDead},
    CodeMeaning{"", "API_KEY_INVALID", ErrorKind::CredentialDead},
    CodeMeaning{"zhipu", "1112", ErrorKind::CredentialDead},
    CodeMeaning{"zhipu", "1121", ErrorKind::CredentialDead},
    CodeMeaning{"minimax", "1004", ErrorKind::CredentialDead},
    CodeMeaning{"minimax", "2049", ErrorKind::CredentialDead},
    // Limits that pass with time. Groq says 413 for tokens a minute.
    CodeMeaning{"", "rate_limit_exceeded", ErrorKind::RateLimited},
    CodeMeaning{"", "RateLimitReached", ErrorKind::RateLimited},
    CodeMeaning{"", "limit_requests", ErrorKind::RateLimited},
    CodeMeaning{"", "rate_limit_error", ErrorKind::RateLimited},
    CodeMeaning{"zhipu", "1302", ErrorKind::RateLimited},
    CodeMeaning{"zhipu", "1303", ErrorKind::RateLimited},
    CodeMeaning{"zhipu", "1305", ErrorKind::RateLimited},
    CodeMeaning{"minimax", "1002", ErrorKind::RateLimited},
    CodeMeaning{"minimax", "1039", ErrorKind::RateLimited},
    // The provider as a whole is busy, whatever the status.
    CodeMeaning{"", "overloaded_error", ErrorKind::Overloaded},
    CodeMeaning{"", "engine_overloaded_error", ErrorKind::Overloaded},  // Moonshot, on a 429
    CodeMeaning{"", "ServerOverloaded", ErrorKind::Overloaded},         // Ark, on a 429
    // Models that are not there.
    CodeMeaning{"", "model_not_found", ErrorKind::ModelMissing},
    CodeMeaning{"", "DeploymentNotFound", ErrorKind::ModelMissing},
    CodeMeaning{"", "ModelNotFound", ErrorKind::ModelMissing},
    CodeMeaning{"", "InvalidEndpointOrModel.NotFound", ErrorKind::ModelMissing},  // Ark
    CodeMeaning{"", "invalid_model", ErrorKind::ModelMissing},                    // Mistral
    CodeMeaning{"zhipu", "1211", ErrorKind::ModelMissing},
    // The caller's own doing under a status that says otherwise (OpenRouter's moderation is a 403).
    CodeMeaning{"", "content_filter", ErrorKind::Refused},
    CodeMeaning{"", "content_policy_violation", ErrorKind::Refused},
    CodeMeaning{"", "data_inspection_failed", ErrorKind::Refused},
    CodeMeaning{"", "tool_use_failed", ErrorKind::Refused},
    CodeMeaning{"", "context_length_exceeded", ErrorKind::Refused},
};

std::optional<ErrorKind> meaning_of_code(std::string_view kind, const ErrorBody& body) noexcept {
  for (const CodeMeaning& entry : kCodes) {
    if (!entry.kind.empty() && entry.kind != kind) continue;
    if (entry.code == body.code || entry.code == body.type) return entry.meaning;
  }
  return std::nullopt;
}

// ---- What only the words tell.
// -----------------------------------------------------------------------------

std::string lowered(std::string_view text) {
  std::string out(text.substr(0, kMessageMax));
  std::ranges::transform(out, out.begin(), ascii_lower);
  return out;
}

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& words) noexcept {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

// xAI and Google refuse a bad key with 400 and no code of its own. Only the beginning counts: further on a
// message may quote the caller, who must not be able to have our key taken out of service.
bool begins_as_key_error(std::string_view message) noexcept {
  constexpr std::array kWords = {std::string_view("incorrect api key"), std::string_view("invalid api key"),
                                 std::string_view("api key not valid"), std::string_view("api key expired"),
                                 std::string_view("no api key"),        std::string_view("missing api key")};
  return begins_with_any(message, kWords);
}

// xAI says so on 403 and 429, others on 429 without a code.
bool begins_as_quota_error(std::string_view message) noexcept {
  constexpr std::array kWords = {std::string_view("you exceeded your current quota"),
                                 std::string_view("insufficient balance"),
                                 std::string_view("insufficient credits")};
  return begins_with_any(message, kWords) ||
         (message.starts_with("your ") &&
          message.find("used all available credits") != std::string_view::npos);
}

bool names_a_model(std::string_view message) noexcept {
  return message.find("model") != std::string_view::npos ||
         message.find("deployment") != std::string_view::npos;
}

// ---- The verdict.
// ------------------------------------------------------------------------------------------

ErrorKind meaning_of_4xx(int status, const ErrorBody& body, std::string_view message) noexcept {
  switch (status) {
    case 401: return ErrorKind::CredentialDead;
    case 402: return ErrorKind::QuotaExhausted;
    case 403:
      // OpenRouter answers its moderation's verdict on the prompt with 403 and code 403.
      if (message.find("moderation") != std::string_view::npos ||
          message.find("flagged") != std::string_view::npos) {
        return ErrorKind::Refused;
      }
      // A key that may not use one model is alive for the others.
      if (names_a_model(message)) return ErrorKind::ModelMissing;
      // A web page is a firewall in front of the provider, not a verdict about the key.
      return body.is_json ? ErrorKind::CredentialDead : ErrorKind::BadContentType;
    case 404:
      // Without a JSON body nobody there knows the path: the base URL is wrong.
      if (!body.is_json) return ErrorKind::BadContentType;
      return names_a_model(message) || message.empty() || body.type == "NOT_FOUND" ? ErrorKind::ModelMissing
                                                                                   : ErrorKind::Refused;
    case 408:
    case 409:  // a lock of theirs; SDKs retry it too
    case 425:
    case 499: return ErrorKind::ServerError;
    case 429: return body.quota_per_day ? ErrorKind::QuotaExhausted : ErrorKind::RateLimited;
    case 498: return ErrorKind::Overloaded;  // Groq's flex capacity
    default: return ErrorKind::Refused;
  }
}

ErrorKind judge(std::string_view kind, int status, const ErrorBody& body) {
  if (status < 400 || status > 599) return ErrorKind::BadContentType;
  const auto by_code = meaning_of_code(kind, body);
  if (status >= 500) {
    if (by_code == ErrorKind::QuotaExhausted || by_code == ErrorKind::Overloaded) return *by_code;
    return status == 503 || status == 529 ? ErrorKind::Overloaded : ErrorKind::ServerError;
  }
  const std::string message = lowered(body.message);
  // "insufficient_quota" comes as a 429 whose type is also a limit's: the code speaks before the status.
  if (by_code && !(status == 401 && *by_code == ErrorKind::Refused)) return *by_code;
  if (begins_as_quota_error(message)) return ErrorKind::QuotaExhausted;
  if ((status == 400 || status == 403) && begins_as_key_error(message)) return ErrorKind::CredentialDead;
  if (status == 400 && message.starts_with("model not exist")) return ErrorKind::ModelMissing;  // DeepSeek
  return meaning_of_4xx(status, body, message);
}

// Whether a wait that the provider asks for means anything: on other failures the header is about a window
// that the next request may not even touch.
bool may_wait(ErrorKind kind) noexcept {
  return kind == ErrorKind::RateLimited || kind == ErrorKind::QuotaExhausted ||
         kind == ErrorKind::Overloaded || kind == ErrorKind::ServerError;
}

// What may be shown of a provider's words, at most `max` bytes of them. Masked before it is cut, since half a
// key looks like none; a text of any length costs no more than its beginning.
std::string shown(std::string_view words, std::size_t max) {
  std::string text = mask_keys(words.substr(0, 4 * max));
  if (text.size() <= max && words.size() <= 4 * max) return text;
  std::size_t end = std::min(max, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not inside a character
  text.resize(end);
  return text + "…";
}

// Words for a body that has none of its own.
std::string describe(int status, std::string_view body, const ErrorBody& read) {
  const std::string with = "the provider answered with status " + std::to_string(status);
  if (read.is_json) return with + " and no message";
  if (body.empty()) return with + " and no body";
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && body[begin] == '<') return with + " and a web page";
  if (begin == std::string_view::npos) return with + " and no body";
  // Masked before it is cut: half a key looks like none.
  std::string words = mask_keys(body.substr(begin, 1000)).substr(0, 200);
  std::ranges::replace_if(words, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return with + ": " + words;
}

Error make_error(ErrorKind kind, int status, std::string_view raw, const ErrorBody& body) {
  Error error = Error::upstream(kind, AttemptPhase::ReplyBegun, {});
  error.upstream_status = static_cast<std::uint16_t>(std::clamp(status, 0, 999));
  error.message = body.message.empty() ? describe(status, raw, body) : shown(body.message, kMessageMax);
  error.type = shown(body.type, 128);
  error.code = shown(body.code, 128);
  error.param = shown(body.param, 256);
  if (body.object.size() <= kObjectMax) error.object = mask_keys_in_json(body.object);
  return error;
}

Error classify_object(std::string_view kind, const ErrorBody& read) {
  // Some carry the status they would have had: OpenRouter as `code`, Groq as `status_code`.
  int status = 0;
  std::from_chars(read.code.data(), read.code.data() + read.code.size(), status);
  const bool is_status = read.code.size() == 3 && status >= 400 && status <= 599;
  ErrorKind meaning = ErrorKind::StreamError;
  if (const auto by_code = meaning_of_code(kind, read)) {
    meaning = *by_code;
  } else if (begins_as_quota_error(lowered(read.message))) {
    meaning = ErrorKind::QuotaExhausted;
  } else if (is_status) {
    meaning = judge(kind, status, read);
  }
  Error error = make_error(meaning, 200, {}, read);
  if (read.message.empty()) error.message = "the provider sent an error without a message";
  if (may_wait(meaning) && !read.object.empty()) {
    const wire::Fields none;
    error.retry_after = retry_after(none, "{\"error\":" + read.object + "}", WallTime{});
  }
  return error;
}

}  // namespace

Error classify_reply(std::string_view kind, int status, const wire::Fields& fields, std::string_view body,
                     WallTime now) {
  const ErrorBody read = read_error_body(body);
  Error error = make_error(judge(kind, status, read), status, body, read);
  if (may_wait(error.kind)) error.retry_after = retry_after(fields, body, now);
  return error;
}

Error classify_error_object(std::string_view kind, std::string_view body) {
  return classify_object(kind, read_error_body(body));
}

Error classify_error_object(std::string_view kind, const Error& told) {
  return classify_object(kind, error_body_of(told));
}

}  // namespace qq::providers
