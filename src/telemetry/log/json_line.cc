#include "telemetry/log/json_line.h"

#include <charconv>
#include <cstring>
#include <string>

#include "base/utf8_cut.h"
#include "providers/masking.h"
#include "telemetry/log/plain_text.h"

namespace qq::telemetry {
namespace {

constexpr unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
CodePoint decode_utf8(std::string_view text, std::size_t at) noexcept {
  const unsigned char lead = byte_at(text, at);
  std::size_t bytes = 0;
  std::uint32_t value = 0;
  std::uint32_t smallest = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    bytes = 2, value = lead & 0x1fU, smallest = 0x80;
  } else if ((lead & 0xf0U) == 0xe0) {
    bytes = 3, value = lead & 0x0fU, smallest = 0x800;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    bytes = 4, value = lead & 0x07U, smallest = 0x10000;
  } else {
    return {};
  }
  if (at + bytes > text.size()) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned char next = byte_at(text, at + i);
    if ((next & 0xc0U) != 0x80) return {};
    value = (value << 6U) | (next & 0x3fU);
  }
  if (value < smallest || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, bytes};
}

// Characters that a terminal or a reader acts upon instead of showing them.
constexpr bool acts_on_terminals(std::uint32_t c) noexcept {
  return (c >= 0x80 && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0x200e || c == 0x200f ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

char* escape_code_unit(char* out, std::uint32_t c) noexcept {
  constexpr std::string_view kHex = "0123456789abcdef";
  *out++ = '\\';
  *out++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *out++ = kHex[(c >> static_cast<unsigned>(shift)) & 0xfU];
  return out;
}

// Writes at most six bytes per byte of `text`; returns the end. Out of line: it is for the few values that
// are not plain.
[[gnu::noinline]] char* escape_each(char* out, std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned char c = byte_at(text, at);
    if (is_plain(c)) {
      *out++ = text[at++];
    } else if (c == '"' || c == '\\') {
      *out++ = '\\';
      *out++ = text[at++];
    } else if (c < 0x80) {
      out = escape_code_unit(out, c);
      ++at;
    } else if (const CodePoint point = decode_utf8(text, at); point.bytes == 0) {
      out = escape_code_unit(out, 0xfffd);
      ++at;
    } else if (acts_on_terminals(point.value)) {
      out = escape_code_unit(out, point.value);
      at += point.bytes;
    } else {
      std::memcpy(out, text.data() + at, point.bytes);
      out += point.bytes;
      at += point.bytes;
    }
  }
  return out;
}

[[gnu::always_inline]] inline char* escape(char* out, std::string_view text) noexcept {
  return copy_plain(out, text) ? out + text.size() : escape_each(out, text);
}

}  // namespace

void JsonLine::begin() noexcept {
  length_ = 0;
  first_ = true;
  in_list_ = in_element_ = element_full_ = truncated_ = false;
  put('{');
}

bool JsonLine::no_room() noexcept {
  if (element_full_) return false;
  truncated_ = true;
  element_full_ = in_element_;
  return false;
}

void JsonLine::put_text(std::string_view value) noexcept {
  char* out = buffer_.data() + length_;
  *out++ = '"';
  out = escape(out, value);
  *out++ = '"';
  length_ = static_cast<std::size_t>(out - buffer_.data());
}

void JsonLine::narrow_text(std::string_view name, std::string_view value, std::size_t max) noexcept {
  truncated_ = truncated_ || value.size() > max;
  value = cut_utf8(value, max);
  // The exact length decides.
  std::array<char, kEscapeMax * kEventValueMax> escaped;
  const std::string_view exact(escaped.data(),
                               static_cast<std::size_t>(escape(escaped.data(), value) - escaped.data()));
  if (!start_field(name, exact.size() + 2)) return;
  put('"');
  put(exact);
  put('"');
}

void JsonLine::redacted_text(std::string_view name, std::string_view value, std::size_t max) noexcept {
  truncated_ = truncated_ || value.size() > 4 * max;
  // Masked before it is cut, so that a cut never leaves the first half of a credential unrecognised.
  narrow_text(name, providers::mask_keys(value.substr(0, 4 * max)), max);
}

void JsonLine::put_number(std::uint64_t value) noexcept {
  if (value < 10) return put(static_cast<char>('0' + value));  // as many figures are
  length_ = static_cast<std::size_t>(
      std::to_chars(buffer_.data() + length_, buffer_.data() + kLineMax, value).ptr - buffer_.data());
}

void JsonLine::put_integer(std::int64_t value) noexcept {
  if (value < 0) put('-');
  put_number(value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value));
}

void JsonLine::put_milliseconds(std::chrono::nanoseconds value) noexcept {
  const std::int64_t count = value.count();
  if (count < 0) put('-');
  const std::uint64_t micros = static_cast<std::uint64_t>(count < 0 ? -(count / 1000) : count / 1000);
  put_number(micros / 1000);
  const std::uint64_t rest = micros % 1000;
  put('.');
  put(static_cast<char>('0' + rest / 100));
  put(static_cast<char>('0' + rest / 10 % 10));
  put(static_cast<char>('0' + rest % 10));
}

void JsonLine::begin_list(std::string_view name) noexcept {
  in_list_ = start_field(name, 2);
  if (in_list_) put('[');
  list_empty_ = true;
}

void JsonLine::begin_element() noexcept {
  element_start_ = length_;
  in_element_ = true;
  element_full_ = !in_list_ || room() < 16;
  if (element_full_) {
    truncated_ = true;
    return;
  }
  if (!list_empty_) put(',');
  put('{');
  first_ = true;
}

void JsonLine::end_element() noexcept {
  if (element_full_) {
    length_ = element_start_;
  } else {
    put('}');
    list_empty_ = false;
  }
  in_element_ = element_full_ = false;
  first_ = false;
}

void JsonLine::end_list() noexcept {
  if (in_list_) put(']');
  in_list_ = false;
}

std::string_view JsonLine::finish() noexcept {
  if (truncated_) put(std::string_view(",\"truncated\":true"));
  put(std::string_view("}\n"));
  return {buffer_.data(), length_};
}

}  // namespace qq::telemetry
