#include "providers/error_body.h"

#include <algorithm>

#include "base/text.h"
#include "wire/json_text.h"

namespace qq::providers {
namespace {

using wire::JsonValue;
using wire::text_of;

// FastAPI's list of complaints: the first one's words.
std::string detail_text(JsonValue detail) {
  if (!detail.is_array()) return text_of(detail);
  wire::JsonElements elements(detail);
  if (!elements.next()) return {};
  const auto message = elements.value().member("msg");
  return message ? text_of(*message) : text_of(elements.value());
}

// Google's details: ErrorInfo and QuotaFailure.
void read_details(JsonValue details, ErrorBody& body) {
  for (wire::JsonElements elements(details); elements.next();) {
    if (const auto reason = elements.value().member("reason"); reason && body.reason.empty()) {
      body.reason = text_of(*reason);
    }
    const auto violations = elements.value().member("violations");
    if (!violations) continue;
    for (wire::JsonElements each(*violations); each.next();) {
      const auto quota = each.value().member("quotaId");
      if (!quota) continue;
      if (quota->raw_string().find("PerDay") != std::string_view::npos) body.quota_per_day = true;
      if (quota->raw_string().find("PerMinute") != std::string_view::npos) body.quota_per_minute = true;
    }
  }
}

// The members of an error object, and those of documents that are one themselves.
void read_members(JsonValue object, ErrorBody& body) {
  for (wire::JsonMembers members(object); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "message" || key == "Message" || key == "msg" || key == "error_msg" || key == "status_msg") {
      if (body.message.empty()) body.message = text_of(value);
    } else if (key == "code" || key == "error_code" || key == "status_code") {
      if (body.code.empty()) body.code = text_of(value);
    } else if (key == "type" || key == "status") {
      // Google's word for the kind is its status.
      if (body.type.empty() && value.is_string()) body.type = text_of(value);
    } else if (key == "__type") {
      body.type = aws_exception(text_of(value));
    } else if (key == "error_type") {  // Cohere
      if (body.code.empty()) body.code = text_of(value);
    } else if (key == "http_code") {
      if (body.http_code.empty()) body.http_code = text_of(value);
    } else if (key == "param") {
      if (body.param.empty()) body.param = text_of(value);
    } else if (key == "detail" && body.message.empty()) {
      body.message = detail_text(value);
    } else if (key == "details" && value.is_array()) {
      read_details(value, body);
    }
  }
}

}  // namespace

ErrorBody read_error_body(std::string_view text) {
  ErrorBody body;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return body;
  text.remove_prefix(begin);
  if ((text[0] != '{' && text[0] != '[') || wire::check_json(text)) return body;
  body.is_json = true;
  JsonValue document(text);
  if (document.is_array()) {
    wire::JsonElements elements(document);
    if (!elements.next()) return body;
    document = elements.value();
  }
  const auto error = document.member("error");
  const auto base_resp = document.member("base_resp");
  if (error && error->is_object()) {
    read_members(*error, body);
    body.object = error->text();
  } else if (error && error->is_string()) {
    body.message = error->string();
    read_members(document, body);
  } else if (base_resp && base_resp->is_object()) {
    read_members(*base_resp, body);
  } else {
    read_members(document, body);
    if (body.type == "error") body.type.clear();
    if (!body.message.empty()) body.object = document.text();
  }
  return body;
}

ErrorBody error_body_of(const Error& told) {
  ErrorBody body;
  body.message = told.message;
  body.type = told.type;
  body.code = told.code;
  body.param = told.param;
  body.object = told.object;
  body.is_json = true;
  // What dialects have no member for: Google's kind, engines that call their code otherwise.
  if (!told.object.empty()) read_members(JsonValue(told.object), body);
  return body;
}

std::string aws_exception(std::string_view written) {
  written = written.substr(0, written.find(':'));
  if (const std::size_t hash = written.rfind('#'); hash != std::string_view::npos) {
    written.remove_prefix(hash + 1);
  }
  std::string name(trimmed(written));
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace qq::providers
