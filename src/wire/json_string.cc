// Strings of JSON: decoding escapes, comparing keys, writing.
#include <cstring>

#include "wire/json.h"
#include "wire/json_scan.h"
#include "wire/utf8.h"

namespace qq::wire {
namespace {

// Four hex digits of a checked "\uXXXX" that starts at `at`.
std::uint32_t hex_unit(const char* at) noexcept {
  std::uint32_t unit = 0;
  for (int i = 2; i < 6; ++i) {
    const char c = at[i];
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    unit = unit << 4 | (static_cast<std::uint32_t>(digit) & 0xf);
  }
  return unit;
}

// Decodes the escape at `at` into at most four bytes and moves `at` behind it.
std::size_t decode_escape(const char*& at, const char* end, char* out) noexcept {
  if (end - at < 2) {
    at = end;
    return 0;
  }
  const char c = at[1];
  if (c != 'u') {
    at += 2;
    switch (c) {
      case 'b': out[0] = '\b'; break;
      case 'f': out[0] = '\f'; break;
      case 'n': out[0] = '\n'; break;
      case 'r': out[0] = '\r'; break;
      case 't': out[0] = '\t'; break;
      default: out[0] = c;
    }
    return 1;
  }
  if (end - at < 6) {
    at = end;
    return 0;
  }
  std::uint32_t code_point = hex_unit(at);
  at += 6;
  const bool high_surrogate = code_point >= 0xd800 && code_point < 0xdc00;
  if (high_surrogate && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    const std::uint32_t low = hex_unit(at);
    if (low >= 0xdc00 && low < 0xe000) {
      code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    }
  }
  return encode_utf8(code_point, out);
}

const char* find_backslash(const char* at, const char* end) noexcept {
  if (at == end) return end;
  const void* found = std::memchr(at, '\\', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

// The first byte that must be escaped, or `end`.
const char* find_special(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i quotes = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    const int mask = _mm_movemask_epi8(_mm_or_si128(controls, quotes));
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

void append_escape(std::string& out, unsigned char byte) {
  switch (byte) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

void append_valid(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    const char* stop = find_special(at, end);
    out.append(at, static_cast<std::size_t>(stop - at));
    if (stop == end) return;
    append_escape(out, static_cast<unsigned char>(*stop));
    at = stop + 1;
  }
}

}  // namespace

std::string JsonValue::string() const {
  const std::string_view raw = raw_string();
  std::string out;
  out.reserve(raw.size());
  const char* at = raw.data();
  const char* end = at + raw.size();
  while (at != end) {
    const char* stop = find_backslash(at, end);
    out.append(at, static_cast<std::size_t>(stop - at));
    at = stop;
    if (at == end) break;
    char bytes[4];
    out.append(bytes, decode_escape(at, end, bytes));
  }
  return out;
}

bool JsonValue::is_blank_string() const noexcept {
  if (!is_string()) return false;
  const std::string_view raw = raw_string();
  const char* at = raw.data();
  const char* end = at + raw.size();
  while (at != end) {
    char bytes[4];
    std::size_t size = 1;
    if (*at == '\\') {
      size = decode_escape(at, end, bytes);
    } else {
      bytes[0] = *at++;
    }
    if (size != 1 || !is_json_space(bytes[0])) return false;
  }
  return true;
}

bool JsonMembers::escaped_key_is(std::string_view name) const noexcept {
  const char* at = key_.data();
  const char* end = at + key_.size();
  const char* stop = find_backslash(at, end);
  for (;;) {
    const auto plain = static_cast<std::size_t>(stop - at);
    if (!name.starts_with(std::string_view(at, plain))) return false;
    name.remove_prefix(plain);
    at = stop;
    if (at == end) return name.empty();
    char bytes[4];
    const std::size_t size = decode_escape(at, end, bytes);
    if (!name.starts_with(std::string_view(bytes, size))) return false;
    name.remove_prefix(size);
    stop = find_backslash(at, end);
  }
}

bool is_plain_in_json(std::string_view text) noexcept {
  // Without a way out of the loop, so that the compiler takes sixteen at a time.
  bool plain = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain &= byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
  }
  return plain;
}

void append_json_string(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  std::string repaired;
  append_valid(out, as_utf8(text, repaired));
  out += '"';
}

}  // namespace qq::wire
