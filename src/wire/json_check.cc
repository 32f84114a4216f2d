// check_json: the grammar of RFC 8259 as a loop with one bit a level, so that depth costs no stack.
#include <simdjson.h>

#include <algorithm>
#include <bitset>
#include <cstring>

#include "wire/json.h"
#include "wire/json_scan.h"
#include "wire/utf8.h"

namespace qq::wire {
namespace {

bool is_digit(const char* at, const char* end) noexcept {
  return at != end && *at >= '0' && *at <= '9';
}

bool is_hex(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f');
}

class Checker {
 public:
  Checker(std::string_view text, const JsonLimits& limits) noexcept
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        depth_max_(std::min(limits.depth_max, kJsonDepthMax)),
        nodes_left_(limits.nodes_max) {}

  std::optional<JsonError> run() noexcept {
    const char* reason = check_document();
    if (reason != nullptr) return JsonError{static_cast<std::size_t>(at_ - begin_), reason};
    if ((high_ & 0x80) != 0) return check_utf8();
    return std::nullopt;
  }

 private:
  const char* check_document() noexcept;
  const char* check_string() noexcept;
  const char* check_escape() noexcept;
  const char* check_number() noexcept;
  const char* check_word(std::string_view word) noexcept;
  std::optional<JsonError> check_utf8() const noexcept;

  bool at(char c) const noexcept { return at_ != end_ && *at_ == c; }
  void skip_space() noexcept { at_ = skip_json_space(at_, end_); }

  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t depth_max_;
  std::size_t nodes_left_;
  std::uint8_t high_ = 0;               // bit 7: some byte needs the UTF-8 check
  std::bitset<kJsonDepthMax> objects_;  // by level: set for an object, clear for an array
};

const char* Checker::check_document() noexcept {
  std::size_t depth = 0;
  bool in_object = false;

value:
  skip_space();
  if (at_ == end_) return "expected a value";
  if (nodes_left_-- == 0) return "too many values";
  switch (*at_) {
    case '"':
      if (const char* error = check_string()) return error;
      break;
    case '{':
      if (depth == depth_max_) return "nested too deeply";
      objects_[depth++] = in_object;
      in_object = true;
      ++at_;
      skip_space();
      if (at('}')) goto close;
      goto key;
    case '[':
      if (depth == depth_max_) return "nested too deeply";
      objects_[depth++] = in_object;
      in_object = false;
      ++at_;
      skip_space();
      if (at(']')) goto close;
      goto value;
    case 't':
      if (const char* error = check_word("true")) return error;
      break;
    case 'f':
      if (const char* error = check_word("false")) return error;
      break;
    case 'n':
      if (const char* error = check_word("null")) return error;
      break;
    default:
      if (const char* error = check_number()) return error;
  }

after_value:
  skip_space();
  if (depth == 0) return at_ == end_ ? nullptr : "expected nothing more";
  if (at_ == end_) return in_object ? "expected ',' or '}'" : "expected ',' or ']'";
  if (*at_ == ',') {
    ++at_;
    if (!in_object) goto value;
    skip_space();
    goto key;
  }
  if (*at_ != (in_object ? '}' : ']')) return in_object ? "expected ',' or '}'" : "expected ',' or ']'";

close:
  ++at_;
  in_object = objects_[--depth];
  goto after_value;

key:
  if (!at('"')) return "expected a key";
  if (nodes_left_-- == 0) return "too many values";
  if (const char* error = check_string()) return error;
  skip_space();
  if (!at(':')) return "expected ':'";
  ++at_;
  goto value;
}

const char* Checker::check_string() noexcept {
  ++at_;
  for (;;) {
    at_ = find_string_stop(at_, end_, high_);
    if (at_ == end_) return "string without an end";
    if (*at_ == '"') {
      ++at_;
      return nullptr;
    }
    if (*at_ != '\\') return "control character in a string";
    if (const char* error = check_escape()) return error;
  }
}

const char* Checker::check_escape() noexcept {
  if (end_ - at_ < 2) return "string without an end";
  switch (at_[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': at_ += 2; return nullptr;
    case 'u':
      if (end_ - at_ < 6 || !is_hex(at_[2]) || !is_hex(at_[3]) || !is_hex(at_[4]) || !is_hex(at_[5])) {
        return "\\u without four hex digits";
      }
      at_ += 6;
      return nullptr;
    default: return "unknown escape";
  }
}

const char* Checker::check_number() noexcept {
  const char* at = at_;
  if (*at == '-') ++at;
  if (!is_digit(at, end_)) {
    return at == at_ ? "expected a value" : "number without digits";
  }
  if (*at == '0') {
    ++at;
    if (is_digit(at, end_)) return "number with a leading zero";
  } else {
    while (is_digit(at, end_)) ++at;
  }
  if (at != end_ && *at == '.') {
    ++at;
    if (!is_digit(at, end_)) return "number without digits behind the point";
    while (is_digit(at, end_)) ++at;
  }
  if (at != end_ && (*at | 0x20) == 'e') {
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    if (!is_digit(at, end_)) return "number without digits in the exponent";
    while (is_digit(at, end_)) ++at;
  }
  at_ = at;
  return nullptr;
}

const char* Checker::check_word(std::string_view word) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) {
    return "expected a value";
  }
  at_ += word.size();
  return nullptr;
}

std::optional<JsonError> Checker::check_utf8() const noexcept {
  const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
  if (simdjson::validate_utf8(text)) return std::nullopt;
  std::size_t offset = 0;
  while (offset < text.size()) {
    const Utf8Part part = first_utf8_part(text.substr(offset));
    if (!part.valid) break;
    offset += part.size;
  }
  return JsonError{offset, "invalid UTF-8"};
}

}  // namespace

std::optional<JsonError> check_json(std::string_view text, const JsonLimits& limits) noexcept {
  return Checker(text, limits).run();
}

}  // namespace qq::wire
