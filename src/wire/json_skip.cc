// skip_container: brackets counted 64 bytes at a time, with what lies in strings masked out, as in
// G. Langdale and D. Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.
#include <algorithm>

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

#if defined(__SSE2__)
std::uint64_t equal_bits(__m128i a, __m128i b) noexcept {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
}

// Adds what is known of 16 bytes, of which the first `drop` are known already, at `place`.
void add(Masks& masks, __m128i bytes, std::size_t drop, std::size_t place) noexcept {
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // '[' | 0x20 is '{', ']' | 0x20 is '}'
  masks.quotes |= equal_bits(bytes, _mm_set1_epi8('"')) >> drop << place;
  masks.backslashes |= equal_bits(bytes, _mm_set1_epi8('\\')) >> drop << place;
  masks.opens |= equal_bits(folded, _mm_set1_epi8('{')) >> drop << place;
  masks.closes |= equal_bits(folded, _mm_set1_epi8('}')) >> drop << place;
}

__m128i load(const char* at) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
#endif

// Of the bytes in [at, end), at most 64. `begin`: bytes from there on may be read as well.
Masks scan([[maybe_unused]] const char* begin, const char* at, const char* end) noexcept {
  Masks masks;
  std::size_t place = 0;
#if defined(__SSE2__)
  if (end - at >= 64) {
    for (; place < 64; place += 16) add(masks, load(at + place), 0, place);
    return masks;
  }
  if (end - begin >= 16) {
    for (; end - at >= 16; at += 16, place += 16) add(masks, load(at), 0, place);
    // The rest is read together with bytes in front of it.
    if (at != end) add(masks, load(end - 16), static_cast<std::size_t>(16 - (end - at)), place);
    return masks;
  }
#endif
  for (; at != end && place < 64; ++at, ++place) {
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (*at == '"') masks.quotes |= bit;
    if (*at == '\\') masks.backslashes |= bit;
    if ((*at | 0x20) == '{') masks.opens |= bit;
    if ((*at | 0x20) == '}') masks.closes |= bit;
  }
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
  const char* const begin = at;
  while (at != end) {
    const Masks masks = scan(begin, at, end);
    const std::uint64_t quotes = masks.quotes & ~escaped_bytes(masks.backslashes, escape_carry);
    const std::uint64_t strings = running_parity(quotes) ^ inside;
    inside = std::uint64_t{0} - (strings >> 63);
    // Few enough that going from one to the next beats counting them without a popcnt instruction.
    for (std::uint64_t brackets = (masks.opens | masks.closes) & ~strings; brackets != 0;
         brackets &= brackets - 1) {
      const std::uint64_t lowest = brackets & (~brackets + 1);
      if ((masks.opens & lowest) != 0) {
        ++depth;
      } else if (--depth == 0) {
        return at + __builtin_ctzll(lowest) + 1;
      }
    }
    at += std::min<std::ptrdiff_t>(end - at, 64);
  }
  return end;
}

}  // namespace qq::wire
