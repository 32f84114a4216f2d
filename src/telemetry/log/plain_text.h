// Copying a text that needs no escaping, eight or sixteen bytes at a time: nearly all values of a log line
// are such, and most are short.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qq::telemetry {

// Plain: what may stand in a JSON string as it is, printable ASCII but for quote and backslash.
constexpr bool is_plain(unsigned char c) noexcept {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

namespace detail {

// Copies one word; false if any byte of it is not plain. Each test sets a byte's high bit where it holds, and
// may set more of them above a byte where it holds: whether any holds is exact.
template <typename Word>
bool copy_plain_word(char* out, const char* from) noexcept {
  constexpr Word kOnes = static_cast<Word>(~Word{0}) / 0xff;
  constexpr Word kHighs = kOnes * 0x80;
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  std::memcpy(out, &word, sizeof word);
  const auto has_zero = [](Word w) { return static_cast<Word>((w - kOnes) & ~w); };
  const Word below_space = static_cast<Word>((word - kOnes * 0x20) & ~word);
  const Word quote = has_zero(word ^ kOnes * '"');
  const Word backslash = has_zero(word ^ kOnes * '\\');
  const Word del = has_zero(word ^ kOnes * 0x7f);
  return ((word | below_space | quote | backslash | del) & kHighs) == 0;
}

#if defined(__SSE2__)
inline bool copy_plain_16(char* out, const char* from) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  // Signed: bytes from 0x80 on are below the space too.
  const __m128i outside =
      _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
  const __m128i special =
      _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  return _mm_movemask_epi8(_mm_or_si128(outside, special)) == 0;
}
#else
inline bool copy_plain_16(char* out, const char* from) noexcept {
  return copy_plain_word<std::uint64_t>(out, from) & copy_plain_word<std::uint64_t>(out + 8, from + 8);
}
#endif

}  // namespace detail

// Copies `text` to `out`, which has room for it; false if some byte is not plain, and `out` then holds
// anything.
[[gnu::always_inline]] inline bool copy_plain(char* out, std::string_view text) noexcept {
  const char* const from = text.data();
  const std::size_t size = text.size();
  bool plain = true;
  // What is left over is covered by a second, overlapping step.
  if (size >= 16) {
    for (std::size_t at = 0; at + 16 <= size; at += 16) plain &= detail::copy_plain_16(out + at, from + at);
    return detail::copy_plain_16(out + size - 16, from + size - 16) && plain;
  }
  if (size >= 8) {
    plain = detail::copy_plain_word<std::uint64_t>(out, from);
    return detail::copy_plain_word<std::uint64_t>(out + size - 8, from + size - 8) && plain;
  }
  if (size >= 4) {
    plain = detail::copy_plain_word<std::uint32_t>(out, from);
    return detail::copy_plain_word<std::uint32_t>(out + size - 4, from + size - 4) && plain;
  }
  for (std::size_t at = 0; at < size; ++at) {
    out[at] = from[at];
    plain = plain && is_plain(static_cast<unsigned char>(from[at]));
  }
  return plain;
}

}  // namespace qq::telemetry
