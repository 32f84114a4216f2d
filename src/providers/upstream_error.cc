#include "providers/upstream_error.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "base/utf8_cut.h"
#include "providers/error_body.h"
#include "providers/error_codes.h"
#include "providers/masking.h"
#include "wire/json_pointer.h"
#include "wire/json_text.h"

namespace qq::providers {
namespace {

constexpr std::size_t kMessageMax = 2048;
constexpr std::size_t kObjectMax = 64 * 1024;

// ---- What only the words tell. ----------------------------------------------------------------------------

std::string lowered(std::string_view text) {
  std::string out(text.substr(0, kMessageMax));
  std::ranges::transform(out, out.begin(), ascii_lower);
  return out;
}

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& words) noexcept {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) noexcept {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// xAI and Google refuse a bad key with 400 and no code of its own. Only the beginning counts: further on a
// message may quote the caller, who must not be able to have our key taken out of service.
bool begins_as_key_error(std::string_view message) noexcept {
  constexpr std::array kWords = {std::string_view("incorrect api key"), std::string_view("invalid api key"),
                                 std::string_view("api key not valid"), std::string_view("api key expired"),
                                 std::string_view("no api key"),        std::string_view("missing api key")};
  return begins_with_any(message, kWords);
}

// xAI says so on 403 and 429, others on 429 without a code. Google has the same words for a limit a minute,
// and DashScope for nothing else. Words that are not at the beginning may be a caller's, but not with a
// status that is about the account.
bool begins_as_quota_error(std::string_view kind, int status, const ErrorBody& body,
                           std::string_view message) noexcept {
  if (message.starts_with("you exceeded your current quota")) {
    return kind != "qwen" && (body.quota_per_day || !body.quota_per_minute);
  }
  constexpr std::array kWords = {std::string_view("insufficient balance"),
                                 std::string_view("insufficient credits")};
  if (begins_with_any(message, kWords)) return true;
  constexpr std::array kFurtherOn = {std::string_view("used all available credits"),
                                     std::string_view("have any credits")};
  const bool is_about_the_account = status == 402 || status == 403 || status == 429;
  return is_about_the_account && message.starts_with("your ") && has_any(message, kFurtherOn);
}

// DashScope's limits where a status cannot say so: its responses fail with 200 and "server_error". Further
// on the words may be a caller's.
bool begins_as_rate_limit(std::string_view kind, const ErrorBody& body, std::string_view message) noexcept {
  constexpr std::size_t kBeginning = 64;
  return kind == "qwen" && body.code == "server_error" &&
         message.substr(0, kBeginning).find("rate limit exceeded") != std::string_view::npos;
}

bool names_a_model(std::string_view message) noexcept {
  constexpr std::array kWords = {std::string_view("model"), std::string_view("deployment")};
  return has_any(message, kWords);
}

// TokenHub's 402 is about money or about a model that was never switched on.
bool says_model_is_off(std::string_view message) noexcept {
  constexpr std::array kWords = {
      std::string_view("not activated"), std::string_view("not been activated"),
      std::string_view("not enabled"),   std::string_view("未开通"),
      std::string_view("未激活"),        std::string_view("未启用"),
  };
  const bool about_a_model = names_a_model(message) || message.find("模型") != std::string_view::npos;
  return about_a_model && has_any(message, kWords);
}

// OpenRouter's 402 for a request that may cost more than what is left: a smaller one can still be paid.
bool asks_for_more_than_is_left(std::string_view message) noexcept {
  constexpr std::string_view kLeft = "can only afford ";
  const std::size_t at = message.find(kLeft);
  if (at == std::string_view::npos || !message.starts_with("this request requires more credits"))
    return false;
  const std::string_view number = message.substr(at + kLeft.size());
  std::int64_t left = 0;
  std::from_chars(number.data(), number.data() + number.size(), left);
  return left > 0;
}

// What a caller asks for may be closed to our account (a file, a tool, a region), and the key alive: only
// words about the key itself or the account as a whole say that it is dead.
bool says_account_is_dead(std::string_view message) noexcept {
  constexpr std::array kWords = {
      std::string_view("api key"),         std::string_view("api-key"),
      std::string_view("api_key"),         std::string_view("apikey"),
      std::string_view("access key"),      std::string_view("this key"),
      std::string_view("your key"),        std::string_view("credential"),
      std::string_view("security token"),  std::string_view("authorization failed"),
      std::string_view("your account"),    std::string_view("this account"),
      std::string_view("account is"),      std::string_view("account has"),
      std::string_view("suspended"),       std::string_view("deactivated"),
      std::string_view("organization is"), std::string_view("organization has been"),
      std::string_view("ip not allowed"),  std::string_view("ip address"),
  };
  constexpr std::array kOfOneThing = {std::string_view("resource"), std::string_view(" file"),
                                      std::string_view("parameter"), std::string_view(" tool")};
  return has_any(message, kWords) && !has_any(message, kOfOneThing);
}

// ---- The verdict. -----------------------------------------------------------------------------------------

ErrorKind meaning_of_403(std::string_view kind, const ErrorBody& body, std::string_view message) noexcept {
  // A web page is a firewall in front of the provider, not a verdict about the key.
  if (!body.is_json) return ErrorKind::BadContentType;
  // OpenRouter: a key's own limit of credits, which is no 402.
  if (kind == "openrouter" && message.starts_with("key limit exceeded")) return ErrorKind::QuotaExhausted;
  // Together: the prompt and max_tokens are more than the context holds.
  if (kind == "together") return ErrorKind::Refused;
  // OpenRouter answers its moderation's verdict on the prompt with 403 and code 403. Elsewhere, and where the
  // account is named, it is the account that was flagged.
  constexpr std::array kOnThePrompt = {std::string_view("moderation"), std::string_view("flagged")};
  if (kind == "openrouter" && has_any(message, kOnThePrompt) && !says_account_is_dead(message))
    return ErrorKind::Refused;
  // A key that may not use one model is alive for the others.
  if (names_a_model(message)) return ErrorKind::ModelMissing;
  return says_account_is_dead(message) ? ErrorKind::CredentialDead : ErrorKind::Forbidden;
}

ErrorKind meaning_of_4xx(std::string_view kind, int status, const ErrorBody& body,
                         std::string_view message) noexcept {
  switch (status) {
    case 401: return ErrorKind::CredentialDead;
    case 402:
      if (kind == "openrouter" && asks_for_more_than_is_left(message)) return ErrorKind::Refused;
      return kind == "hunyuan" && says_model_is_off(message) ? ErrorKind::ModelMissing
                                                             : ErrorKind::QuotaExhausted;
    case 403: return meaning_of_403(kind, body, message);
    case 404:
      // Without a JSON body nobody there knows the path: it lacks this endpoint, or the base URL is wrong.
      if (!body.is_json) return ErrorKind::BadContentType;
      return names_a_model(message) || message.empty() || body.type == "NOT_FOUND" ? ErrorKind::ModelMissing
                                                                                   : ErrorKind::Refused;
    case 408:
    case 409:  // a lock of theirs; SDKs retry it too
    case 425:
    case 499: return ErrorKind::ServerError;
    case 429: return body.quota_per_day ? ErrorKind::QuotaExhausted : ErrorKind::RateLimited;
    case 498: return kind == "cohere" ? ErrorKind::Refused : ErrorKind::Overloaded;  // Groq's flex capacity
    default: return ErrorKind::Refused;
  }
}

ErrorKind judge(std::string_view kind, int status, const ErrorBody& body) {
  if (status < 400 || status > 599) return ErrorKind::BadContentType;
  const auto by_code = meaning_of_code(kind, status, body);
  if (status >= 500) {
    if (by_code == ErrorKind::QuotaExhausted || by_code == ErrorKind::Overloaded ||
        by_code == ErrorKind::Refused) {
      return *by_code;
    }
    return status == 503 || status == 529 ? ErrorKind::Overloaded : ErrorKind::ServerError;
  }
  const std::string message = lowered(body.message);
  // "insufficient_quota" comes as a 429 whose type is also a limit's: the code speaks before the status.
  if (by_code) return *by_code;
  if (begins_as_quota_error(kind, status, body, message)) return ErrorKind::QuotaExhausted;
  if ((status == 400 || status == 403) && begins_as_key_error(message)) return ErrorKind::CredentialDead;
  if (status == 400 && message.starts_with("model not exist")) return ErrorKind::ModelMissing;  // DeepSeek
  return meaning_of_4xx(kind, status, body, message);
}

// Before anything is masked or cut: both may leave a part of it.
void hide(ErrorBody& body, std::string_view credential) {
  for (std::string* text : {&body.message, &body.type, &body.code, &body.param}) {
    hide_credential(*text, credential);
  }
  hide_credential_in_json(body.object, credential);
}

// What may be shown of a provider's words, at most `max` bytes of them. Masked before it is cut, since half a
// key looks like none; a text of any length costs no more than its beginning.
std::string shown(std::string_view words, std::size_t max) {
  std::string text = mask_keys(words.substr(0, 4 * max));
  if (text.size() <= max && words.size() <= 4 * max) return text;
  text.resize(cut_utf8(text, max).size());
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
  // JSON that was cut: nobody can see what its escapes hide.
  const bool begins_as_json = body[begin] == '{' || body[begin] == '[';
  if (begins_as_json && words.contains('\\')) return with + " and JSON that breaks off";
  std::ranges::replace_if(words, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return with + ": " + words;
}

// For callers that look for OpenAI's code, and for who must know a request that is too long from other bad
// ones.
constexpr std::string_view kTooLong = "context_length_exceeded";

void name_overflow(std::string_view provider, const ErrorBody& body, Error& error) {
  if (error.kind != ErrorKind::Refused || error.code == kTooLong) return;
  if (begins_as_context_overflow(provider, body, lowered(body.message))) error.code = kTooLong;
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

// What some call the error of a 400 where they say no status: OpenAI and who follows it, and vLLM.
bool is_bad_request(std::string_view type) noexcept {
  return type == "invalid_request_error" || type == "BadRequestError";
}

// The status that an error inside a 200 would have had, or 0: OpenRouter says it as `code`, Groq as
// `status_code`, MiniMax as `http_code`, TokenHub as the first three of six digits.
int status_told(std::string_view kind, const ErrorBody& read) noexcept {
  std::string_view text = read.code;
  if (kind == "hunyuan" && text.size() == 6 && is_digits(text)) text = text.substr(0, 3);
  if (text.size() != 3 || !is_digits(text)) text = read.http_code;
  if (text.size() != 3 || !is_digits(text)) return is_bad_request(read.type) ? 400 : 0;
  int status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status >= 400 && status <= 599 ? status : 0;
}

Error classify_object(std::string_view kind, const ErrorBody& read) {
  const int status = status_told(kind, read);
  const std::string message = lowered(read.message);
  ErrorKind meaning = ErrorKind::StreamError;
  if (const auto by_code = meaning_of_code(kind, status, read)) {
    meaning = *by_code;
  } else if (begins_as_quota_error(kind, status, read, message)) {
    meaning = ErrorKind::QuotaExhausted;
  } else if (begins_as_rate_limit(kind, read, message)) {
    meaning = ErrorKind::RateLimited;
  } else if (status != 0) {
    meaning = judge(kind, status, read);
  }
  Error error = make_error(meaning, 200, {}, read);
  if (read.message.empty()) error.message = "the provider sent an error without a message";
  name_overflow(kind, read, error);
  if (may_wait(meaning) && !read.object.empty()) {
    const wire::Fields none;
    error.retry_after = retry_after(none, "{\"error\":" + read.object + "}", WallTime{});
  }
  return error;
}

}  // namespace

bool may_wait(ErrorKind kind) noexcept {
  return kind == ErrorKind::RateLimited || kind == ErrorKind::QuotaExhausted ||
         kind == ErrorKind::Overloaded || kind == ErrorKind::ServerError;
}

Error classify_reply(std::string_view kind, int status, const wire::Fields& fields, std::string_view body,
                     WallTime now, std::string_view credential) {
  std::string raw(body);
  hide_credential(raw, credential);
  ErrorBody read = read_error_body(raw);
  if (const auto told = fields.find(kAwsErrorType); told && read.type.empty()) {
    read.type = aws_exception(*told);
  }
  hide(read, credential);
  Error error = make_error(judge(kind, status, read), status, raw, read);
  name_overflow(kind, read, error);
  if (may_wait(error.kind)) error.retry_after = retry_after(fields, raw, now);
  return error;
}

Error classify_reply(const model::Target& target, int status, const wire::Fields& fields,
                     std::string_view body, WallTime now, std::string_view credential) {
  Error error = classify_reply(target.kind, status, fields, body, now, credential);
  if (target.declared == nullptr) return error;
  const model::DeclaredErrors& errors = target.declared->errors;
  const bool is_json = !wire::check_json(body);
  const auto told = [&](const model::Pointer& pointer) {
    const auto value = is_json ? wire::at_pointer(wire::JsonValue(body), pointer) : std::nullopt;
    std::string words = value ? wire::text_of(*value) : std::string();
    hide_credential(words, credential);
    return words;
  };
  const std::string code = told(errors.code);
  if (!code.empty()) error.code = shown(code, 128);
  if (const std::string words = told(errors.message); !words.empty())
    error.message = shown(words, kMessageMax);
  if (const auto kind = model::kind_of(errors, status, code)) error.kind = *kind;
  error.retry_after = std::nullopt;
  if (may_wait(error.kind)) error.retry_after = retry_after(fields, body, now);
  return error;
}

Error classify_error_object(std::string_view kind, std::string_view body) {
  return classify_object(kind, read_error_body(body));
}

Error classify_error_object(std::string_view kind, const Error& told, std::string_view credential) {
  ErrorBody read = error_body_of(told);
  hide(read, credential);
  return classify_object(kind, read);
}

}  // namespace qq::providers
