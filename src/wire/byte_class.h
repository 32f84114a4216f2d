// Classes of bytes in HTTP messages (RFC 9110 5.6.2) and the search for the byte that ends a field value.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qq::wire {

inline constexpr std::array<bool, 256> kTokenBytes = [] {
  std::array<bool, 256> table{};
  for (const char c :
       std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

inline bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

inline bool is_token_byte(char c) noexcept {
  return kTokenBytes[static_cast<unsigned char>(c)];
}

// Tab, space, visible ASCII and obs-text: what a field value may hold.
inline bool is_value_byte(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}

// The first byte in [at, end) that is none of a token, or `end`.
inline const char* find_no_token(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  // Nearly all names are letters and hyphens, and shorter than sixteen bytes; where they end, or at any other
  // byte, the table goes on.
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    // Signed, so that bytes of 0x80 and more are below 'a'.
    const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                          _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
    const __m128i usual = _mm_or_si128(letters, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    const auto others = static_cast<unsigned>(_mm_movemask_epi8(usual)) ^ 0xffffU;
    if (others == 0) continue;
    at += __builtin_ctz(others);
    break;
  }
#endif
  while (at != end && is_token_byte(*at)) ++at;
  return at;
}

// The first byte in [at, end) that no field value may hold, or `end`.
inline const char* find_control(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i low = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab),
                                         _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
    const int mask = _mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(bytes, del)));
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && is_value_byte(*at)) ++at;
  return at;
}

}  // namespace qq::wire
