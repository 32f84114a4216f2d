// Finding the next interesting byte of JSON text, sixteen at a time where the machine can (SSE2 is part
// of every x86-64). All functions stay within [at, end).
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qq::wire {

inline bool is_json_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

inline const char* skip_json_space(const char* at, const char* end) noexcept {
  while (at != end && static_cast<unsigned char>(*at) <= ' ' && is_json_space(*at)) ++at;
  return at;
}

// The first quote, backslash or control byte, or `end`. `high` gains bit 7 if a byte of 0x80 or more was
// seen on the way, and perhaps from a few bytes behind.
inline const char* find_string_stop(const char* at, const char* end, std::uint8_t& high) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  __m128i seen = _mm_setzero_si128();
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i quotes = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const int mask = _mm_movemask_epi8(_mm_or_si128(quotes, controls));
    seen = _mm_or_si128(seen, bytes);
    if (mask != 0) {
      if (_mm_movemask_epi8(seen) != 0) high |= 0x80;
      return at + __builtin_ctz(static_cast<unsigned>(mask));
    }
    at += 16;
  }
  if (_mm_movemask_epi8(seen) != 0) high |= 0x80;
#endif
  for (; at != end; ++at) {
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte == '"' || byte == '\\' || byte < 0x20) return at;
    high |= byte;
  }
  return at;
}

// Inside a checked string, behind its opening quote: its closing quote, or `end`. `escapes` becomes true
// if a backslash stood on the way.
inline const char* find_closing_quote(const char* at, const char* end, bool& escapes) noexcept {
  for (;;) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    while (end - at >= 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const int mask =
          _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
      if (mask != 0) {
        at += __builtin_ctz(static_cast<unsigned>(mask));
        break;
      }
      at += 16;
    }
#endif
    while (at != end && *at != '"' && *at != '\\') ++at;
    if (at == end || *at == '"') return at;
    escapes = true;
    if (end - at < 2) return end;
    at += 2;
  }
}

// Behind the object or array that starts at `at` of a checked document, or `end`.
const char* skip_container(const char* at, const char* end) noexcept;

}  // namespace qq::wire
