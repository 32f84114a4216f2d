// skip_container: brackets counted 64 bytes at a time, with what lies in strings masked out, as in
// G. Langdale and D. Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.
#include <cstring>

#include "wire/json_scan.h"

namespace qq::wire {
namespace {

// One bit a byte, the first byte lowest.
struct Masks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

Masks scan(const char* block) noexcept {
  Masks masks;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i case_bit = _mm_set1_epi8(0x20);  // '[' | 0x20 is '{' and ']' | 0x20 is '}'
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  const auto bits = [](__m128i equal, int place) {
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal))) << place;
  };
  for (int place = 0; place < 64; place += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + place));
    const __m128i folded = _mm_or_si128(bytes, case_bit);
    masks.quotes |= bits(_mm_cmpeq_epi8(bytes, quote), place);
    masks.backslashes |= bits(_mm_cmpeq_epi8(bytes, backslash), place);
    masks.opens |= bits(_mm_cmpeq_epi8(folded, open), place);
    masks.closes |= bits(_mm_cmpeq_epi8(folded, close), place);
  }
#else
  for (int place = 0; place < 64; ++place) {
    const char c = block[place];
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (c == '"') masks.quotes |= bit;
    if (c == '\\') masks.backslashes |= bit;
    if ((c | 0x20) == '{') masks.opens |= bit;
    if ((c | 0x20) == '}') masks.closes |= bit;
  }
#endif
  return masks;
}

// The bytes that a backslash in front makes literal. `carry`: the first byte of this block, and then of
// the next one, is such a byte.
std::uint64_t escaped_bytes(std::uint64_t backslashes, std::uint64_t& carry) noexcept {
  if (backslashes == 0) {
    const std::uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  backslashes &= ~carry;
  const std::uint64_t follows = backslashes << 1 | carry;
  // A run that starts at an odd place is made to ripple by the addition; its parity tells which byte
  // behind which backslash is escaped.
  constexpr std::uint64_t kEven = 0x5555'5555'5555'5555;
  const std::uint64_t odd_starts = backslashes & ~kEven & ~follows;
  std::uint64_t rippled = 0;
  carry = __builtin_add_overflow(odd_starts, backslashes, &rippled) ? 1 : 0;
  return (kEven ^ rippled << 1) & follows;
}

// Every bit becomes the parity of the bits up to and with it: from quotes to what they enclose.
std::uint64_t running_parity(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

const char* skip_container(const char* at, const char* end) noexcept {
  std::uint64_t depth = 0;
  std::uint64_t escape_carry = 0;
  std::uint64_t inside = 0;  // all ones while a string goes on across blocks
  char tail[64];
  while (at != end) {
    const char* block = at;
    const auto size = static_cast<std::size_t>(end - at);
    if (size < 64) {
      std::memset(tail, ' ', sizeof tail);
      std::memcpy(tail, at, size);
      block = tail;
    }
    const Masks masks = scan(block);
    const std::uint64_t quotes = masks.quotes & ~escaped_bytes(masks.backslashes, escape_carry);
    const std::uint64_t strings = running_parity(quotes) ^ inside;
    inside = std::uint64_t{0} - (strings >> 63);
    const std::uint64_t opens = masks.opens & ~strings;
    std::uint64_t closes = masks.closes & ~strings;
    const auto close_count = static_cast<std::uint64_t>(__builtin_popcountll(closes));
    if (close_count >= depth) {
      // The end may lie here: look at every closing byte.
      for (; closes != 0; closes &= closes - 1) {
        const std::uint64_t before = (closes & (~closes + 1)) - 1;
        const std::uint64_t opened = static_cast<std::uint64_t>(__builtin_popcountll(opens & before));
        const std::uint64_t closed = close_count - static_cast<std::uint64_t>(__builtin_popcountll(closes));
        if (depth + opened == closed + 1) return at + __builtin_ctzll(closes) + 1;
      }
    }
    depth += static_cast<std::uint64_t>(__builtin_popcountll(opens)) - close_count;
    at += size < 64 ? size : 64;
  }
  return end;
}

}  // namespace qq::wire
