#include "dialects/openai/error_body.h"

#include <string>

#include "wire/json_text.h"

namespace qq::dialects::openai {
namespace {

constexpr std::size_t kObjectMax = 64 * 1024;

using wire::text_of;

Error stream_error(std::string message) {
  if (message.empty()) message = "the provider sent an error without a message";
  return Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, std::move(message));
}

// MiniMax reports failures as {"base_resp":{"status_code":1004,"status_msg":"…"}}; 0 is success.
std::optional<Error> find_base_resp(wire::JsonValue base_resp) {
  const auto status = base_resp.member("status_code");
  if (!status || status->integer().value_or(0) == 0) return std::nullopt;
  const auto message = base_resp.member("status_msg");
  Error error = stream_error(message ? text_of(*message) : std::string());
  error.code = status->text();
  return error;
}

}  // namespace

bool is_error_value(wire::JsonValue error) noexcept {
  if (error.is_object()) return wire::JsonMembers(error).next();
  return error.is_string() && !error.is_blank_string();
}

Error error_from_value(wire::JsonValue error) {
  if (!error.is_object()) return stream_error(text_of(error));
  std::string message;
  std::string type;
  std::string code;
  std::string param;
  for (wire::JsonMembers members(error); members.next();) {
    const wire::JsonValue value = members.value();
    if (members.key_is("message") || (members.key_is("msg") && message.empty())) message = text_of(value);
    if (members.key_is("type")) type = text_of(value);
    if (members.key_is("code")) code = text_of(value);
    if (members.key_is("param")) param = text_of(value);
  }
  Error made = stream_error(std::move(message));
  made.type = std::move(type);
  made.code = std::move(code);
  made.param = std::move(param);
  if (error.text().size() <= kObjectMax) made.object = error.text();
  return made;
}

std::optional<Error> find_error(wire::JsonValue document) {
  if (document.is_array()) {  // Google's array stream
    wire::JsonElements elements(document);
    if (!elements.next() || !elements.value().is_object()) return std::nullopt;
    document = elements.value();
  }
  if (!document.is_object()) return std::nullopt;
  bool says_error = false;
  bool has_code = false;
  std::optional<wire::JsonValue> message;
  std::optional<wire::JsonValue> error;
  std::optional<wire::JsonValue> detail;
  std::optional<wire::JsonValue> base_resp;
  for (wire::JsonMembers members(document); members.next();) {
    const wire::JsonValue value = members.value();
    if (members.key_is("error") && is_error_value(value)) error = value;
    if (members.key_is("message") && value.is_string()) message = value;
    if (members.key_is("code") && !value.is_null()) has_code = true;
    if ((members.key_is("object") || members.key_is("type")) && value.text() == "\"error\"")
      says_error = true;
    if (members.key_is("detail") && (value.is_string() || value.is_array())) detail = value;
    if (members.key_is("base_resp")) base_resp = value;
  }
  if (error) {
    Error made = error_from_value(*error);
    // xAI puts the text in `error` and the code beside it.
    if (made.code.empty()) {
      if (const auto code = document.member("code")) made.code = text_of(*code);
    }
    return made;
  }
  if (says_error || (message && has_code)) return error_from_value(document);
  if (detail) return stream_error(text_of(*detail));
  if (base_resp) return find_base_resp(*base_resp);
  return std::nullopt;
}

}  // namespace qq::dialects::openai
