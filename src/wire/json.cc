#include "wire/json.h"

#include <charconv>

#include "wire/json_scan.h"

namespace qq::wire {
namespace {

// Behind the value at `at` of a checked document. Trusts the grammar but never leaves [at, end].
const char* skip_value(const char* at, const char* end) noexcept {
  if (at == end) return end;
  if (*at == '"') {
    bool escapes = false;
    const char* close = find_closing_quote(at + 1, end, escapes);
    return close == end ? end : close + 1;
  }
  if (*at == '{' || *at == '[') return skip_container(at, end);
  while (at != end && *at != ',' && *at != ']' && *at != '}' && !is_json_space(*at)) ++at;
  return at;
}

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

JsonType JsonValue::type() const noexcept {
  switch (text_.empty() ? 'n' : text_[0]) {
    case '{': return JsonType::Object;
    case '[': return JsonType::Array;
    case '"': return JsonType::String;
    case 't': return JsonType::True;
    case 'f': return JsonType::False;
    case 'n': return JsonType::Null;
    default: return JsonType::Number;
  }
}

std::string_view JsonValue::raw_string() const noexcept {
  return is_string() && text_.size() >= 2 ? text_.substr(1, text_.size() - 2) : std::string_view();
}

std::optional<std::int64_t> JsonValue::integer() const noexcept {
  std::int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<JsonValue> JsonValue::member(std::string_view key) const noexcept {
  for (JsonMembers members(*this); members.next();) {
    if (members.key_is(key)) return members.value();
  }
  return std::nullopt;
}

JsonMembers::JsonMembers(JsonValue object) noexcept {
  if (!object.is_object()) return;
  at_ = object.text().data() + 1;
  end_ = object.text().data() + object.text().size();
}

bool JsonMembers::next() noexcept {
  at_ = skip_json_space(at_, end_);
  if (at_ != end_ && *at_ == ',') at_ = skip_json_space(at_ + 1, end_);
  if (at_ == end_ || *at_ != '"') return false;
  key_escapes_ = false;
  const char* key_end = find_closing_quote(at_ + 1, end_, key_escapes_);
  key_ = between(at_ + 1, key_end);
  if (key_end == end_) {
    at_ = end_;
    return false;
  }
  const char* begin = skip_json_space(key_end + 1, end_);
  if (begin != end_ && *begin == ':') begin = skip_json_space(begin + 1, end_);
  at_ = skip_value(begin, end_);
  value_ = JsonValue(between(begin, at_));
  return true;
}

JsonElements::JsonElements(JsonValue array) noexcept {
  if (!array.is_array()) return;
  at_ = array.text().data() + 1;
  end_ = array.text().data() + array.text().size();
}

bool JsonElements::next() noexcept {
  at_ = skip_json_space(at_, end_);
  if (at_ != end_ && *at_ == ',') at_ = skip_json_space(at_ + 1, end_);
  if (at_ == end_ || *at_ == ']') return false;
  const char* begin = at_;
  at_ = skip_value(begin, end_);
  value_ = JsonValue(between(begin, at_));
  if (at_ == begin) at_ = end_;  // not a checked document: never stand still
  return true;
}

}  // namespace qq::wire
