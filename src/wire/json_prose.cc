#include "wire/json_prose.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace qq::wire {

#if defined(__x86_64__)
namespace {

const bool kHasAvx2 = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}();

// A control character is what stays the same under min(byte, 0x1f).

[[gnu::target("avx2")]] __m256i notable(__m256i bytes) noexcept {
  const __m256i controls = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
  return _mm256_or_si256(controls, _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                                                   _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))));
}

[[gnu::target("avx2")]] const char* skip_wide(const char* at, const char* end, bool& high) noexcept {
  __m256i seen = _mm256_setzero_si256();
  for (; end - at >= 64; at += 64) {
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32));
    if (_mm256_movemask_epi8(_mm256_or_si256(notable(first), notable(second))) != 0) break;
    seen = _mm256_or_si256(seen, _mm256_or_si256(first, second));
  }
  high = high || _mm256_movemask_epi8(seen) != 0;
  return at;
}

__m128i notable(__m128i bytes) noexcept {
  const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  return _mm_or_si128(controls, _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                             _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
}

}  // namespace

const char* skip_prose(const char* at, const char* end, bool& high) noexcept {
  if (kHasAvx2 && end - at >= 128) at = skip_wide(at, end, high);
  __m128i seen = _mm_setzero_si128();
  for (; end - at >= 32; at += 32) {
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16));
    if (_mm_movemask_epi8(_mm_or_si128(notable(first), notable(second))) != 0) break;
    seen = _mm_or_si128(seen, _mm_or_si128(first, second));
  }
  high = high || _mm_movemask_epi8(seen) != 0;
  return at;
}

#else

const char* skip_prose(const char* at, const char* /*end*/, bool& /*high*/) noexcept {
  return at;
}

#endif

}  // namespace qq::wire
