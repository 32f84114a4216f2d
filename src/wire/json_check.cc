// check_json: the grammar of RFC 8259 as a loop with one flag a level, so that depth costs no stack.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "wire/json.h"
#include "wire/json_prose.h"
#include "wire/json_scan.h"
#include "wire/utf8.h"

namespace qq::wire {
namespace {

// Of the byte behind a backslash: whether it is an escape of two bytes.
constexpr std::array<bool, 256> kShortEscapes = [] {
  std::array<bool, 256> table{};
  for (const unsigned char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) table[c] = true;
  return table;
}();

bool digit_at(const char* at, const char* end) noexcept {
  return at != end && *at >= '0' && *at <= '9';
}

bool is_hex(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f');
}

// Moves `at` over white space; the byte there, or 0 at the end.
inline char next_byte(const char*& at, const char* end) noexcept {
  for (; at != end; ++at) {
    const char byte = *at;
    if (static_cast<unsigned char>(byte) > ' ' || !is_json_space(byte)) return byte;
  }
  return 0;
}

// Each check takes the place it starts at and gives the place behind, or nothing when `error_` is set.
class Checker {
 public:
  Checker(std::string_view text, const JsonLimits& limits, JsonOutline* outline) noexcept
      : text_(text), limits_(limits), outline_(outline) {
    if (outline_ == nullptr) return;
    noted_depth_ = std::min(outline_->depth, JsonOutline::kDepthMax);
    free_ = outline_->nodes.data();
  }

  std::optional<JsonError> run() noexcept {
    if (check_document() == nullptr) return error_;
    if (outline_ != nullptr) {
      outline_->complete = noted_depth_ > 0;
      outline_->count = static_cast<std::size_t>(free_ - outline_->nodes.data());
    }
    if ((high_ & 0x80) != 0 && limits_.check_utf8) check_utf8();
    return error_;
  }

 private:
  const char* check_document() noexcept;
  const char* check_string(const char* at, const char* end) noexcept;
  const char* check_long_string(const char* at, const char* end) noexcept;
  const char* check_escape(const char* at, const char* end) noexcept;
  const char* check_number(const char* at, const char* end) noexcept;
  const char* check_word(const char* at, const char* end, std::string_view word) noexcept;
  void check_utf8() noexcept;
  // Whether values inside `depth` containers are noted.
  [[nodiscard]] bool is_noted(std::size_t depth) const noexcept { return depth - 1 < noted_depth_; }
  void note_begin(std::size_t depth, const char* key, const char* key_end, const char* at) noexcept {
    if (free_ == outline_->nodes.data() + JsonOutline::kMax) {
      noted_depth_ = 0;  // from here on nothing is
      return;
    }
    JsonOutline::Node& node = *free_++;
    noted_[depth] = &node;
    node.key = key;
    node.begin = at;
    node.key_size = static_cast<std::uint32_t>(key_end - key);
    node.key_escapes = escape_seen_;
    node.opened = depth < noted_depth_;
  }
  void note_end(std::size_t depth, const char* at) noexcept {
    noted_[depth]->end = at;
    noted_[depth]->next = free_;
  }
  const char* fail(const char* at, const char* reason,
                   JsonError::Limit limit = JsonError::Limit::None) noexcept {
    error_ = JsonError{static_cast<std::size_t>(at - text_.data()), reason, limit};
    return nullptr;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  JsonOutline* outline_;
  std::size_t noted_depth_ = 0;
  std::optional<JsonError> error_;
  bool escape_seen_ = false;
  JsonOutline::Node* free_ = nullptr;  // the outline's next
  // By depth: the node of the value being read. Written before it is read.
  std::array<JsonOutline::Node*, JsonOutline::kDepthMax + 1> noted_;
  unsigned high_ = 0;                          // bit 7: some byte needs the UTF-8 check
  std::array<bool, kJsonDepthMax> in_object_;  // by level: what encloses it. Written before it is read
};

const char* Checker::check_document() noexcept {
  const char* at = text_.data();
  const char* const end = at + text_.size();
  const std::size_t depth_max = std::min(limits_.depth_max, kJsonDepthMax);
  std::size_t nodes_left = limits_.nodes_max;
  std::size_t depth = 0;
  bool in_object = false;
  const char* name = nullptr;  // of the member being read, behind its quote
  const char* name_end = nullptr;
  char next = 0;  // the byte at `at`; 0 at the end, where no grammar has one either

value:
  next = next_byte(at, end);
  if (at == end) return fail(at, "expected a value");
  if (nodes_left-- == 0) return fail(at, "too many values", JsonError::Limit::Nodes);
  if (is_noted(depth)) note_begin(depth, name, name_end, at);
  switch (next) {
    case '"': at = check_string(at, end); break;
    case '{':
      if (depth == depth_max) return fail(at, "nested too deeply", JsonError::Limit::Depth);
      in_object_[depth++] = in_object;
      in_object = true;
      next = next_byte(++at, end);
      if (next == '}') goto close;
      goto key;
    case '[':
      if (depth == depth_max) return fail(at, "nested too deeply", JsonError::Limit::Depth);
      in_object_[depth++] = in_object;
      in_object = false;
      next = next_byte(++at, end);
      if (next == ']') goto close;
      goto value;
    case 't': at = check_word(at, end, "true"); break;
    case 'f': at = check_word(at, end, "false"); break;
    case 'n': at = check_word(at, end, "null"); break;
    default: at = check_number(at, end);
  }
  if (at == nullptr) return nullptr;

after_value:
  if (is_noted(depth)) note_end(depth, at);
  next = next_byte(at, end);
  if (depth == 0) return at == end ? at : fail(at, "expected nothing more");
  if (next == ',') {
    ++at;
    if (!in_object) goto value;
    next = next_byte(at, end);
    goto key;
  }
  if (in_object) {
    if (next != '}') return fail(at, "expected ',' or '}'");
  } else {
    if (next != ']') return fail(at, "expected ',' or ']'");
  }

close:
  ++at;
  in_object = in_object_[--depth];
  goto after_value;

key:
  if (next != '"') return fail(at, "expected a key");
  if (nodes_left-- == 0) return fail(at, "too many values", JsonError::Limit::Nodes);
  escape_seen_ = false;
  name = at + 1;
  at = check_string(at, end);
  if (at == nullptr) return nullptr;
  name_end = at - 1;
  if (next_byte(at, end) != ':') return fail(at, "expected ':'");
  ++at;
  goto value;
}

// Most strings are keys and words: their end lies within sixteen bytes, and nothing else of note before it.
[[gnu::always_inline]] inline const char* Checker::check_string(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  if (end - at > 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 1));
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i others = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')),
                                        // Signed: a byte of 0x80 or more is below the space too.
                                        _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
    const auto quote_bits = static_cast<unsigned>(_mm_movemask_epi8(quotes));
    const auto other_bits = static_cast<unsigned>(_mm_movemask_epi8(others));
    const unsigned before = (quote_bits & (~quote_bits + 1)) - 1;  // all bits if there is no quote
    if ((other_bits & before) == 0) {
      if (quote_bits != 0) return at + 2 + __builtin_ctz(quote_bits);
      at += 16;  // these need no second look
    }
  }
#endif
  return check_long_string(at, end);
}

[[gnu::noinline]] const char* Checker::check_long_string(const char* at, const char* end) noexcept {
  ++at;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  static constexpr unsigned kQuietBlocks = 3;  // a string this long is likely to go on
  unsigned quiet = 0;
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i ends =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
    auto stops =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(ends, _mm_cmpeq_epi8(bytes, backslash))));
    // A byte behind the string's end may count too: then the text is checked in vain.
    if (_mm_movemask_epi8(bytes) != 0) high_ |= 0x80;
    const char* next = at + 16;
    if (stops == 0 && ++quiet == kQuietBlocks) {
      bool high = false;
      next = skip_prose(next, end, high);
      if (high) high_ |= 0x80;
      quiet = 0;
    }
    while (stops != 0) {
      const char* stop = at + __builtin_ctz(stops);
      if (*stop == '"') return stop + 1;
      if (*stop != '\\') return fail(stop, "control character in a string");
      const char* behind = check_escape(stop, end);
      if (behind == nullptr) return nullptr;
      if (behind >= next) {
        next = behind;
        break;
      }
      stops &= ~0U << (behind - at);
    }
    at = next;
  }
#endif
  while (at != end) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"') return at + 1;
    if (byte < 0x20) return fail(at, "control character in a string");
    high_ |= byte;
    if (byte == '\\') {
      at = check_escape(at, end);
      if (at == nullptr) return nullptr;
    } else {
      ++at;
    }
  }
  return fail(end, "string without an end");
}

inline const char* Checker::check_escape(const char* at, const char* end) noexcept {
  escape_seen_ = true;
  if (end - at < 2) return fail(at, "string without an end");
  if (kShortEscapes[static_cast<unsigned char>(at[1])]) return at + 2;
  if (at[1] != 'u') return fail(at, "unknown escape");
  if (end - at < 6 || !is_hex(at[2]) || !is_hex(at[3]) || !is_hex(at[4]) || !is_hex(at[5])) {
    return fail(at, "\\u without four hex digits");
  }
  return at + 6;
}

const char* Checker::check_number(const char* at, const char* end) noexcept {
  const char* const begin = at;
  if (*at == '-') ++at;
  if (!digit_at(at, end)) return fail(begin, at == begin ? "expected a value" : "number without digits");
  if (*at == '0') {
    ++at;
    if (digit_at(at, end)) return fail(begin, "number with a leading zero");
  } else {
    while (digit_at(at, end)) ++at;
  }
  if (at != end && *at == '.') {
    ++at;
    if (!digit_at(at, end)) return fail(begin, "number without digits behind the point");
    while (digit_at(at, end)) ++at;
  }
  if (at != end && (*at | 0x20) == 'e') {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!digit_at(at, end)) return fail(begin, "number without digits in the exponent");
    while (digit_at(at, end)) ++at;
  }
  return at;
}

inline const char* Checker::check_word(const char* at, const char* end, std::string_view word) noexcept {
  if (static_cast<std::size_t>(end - at) < word.size() || std::memcmp(at, word.data(), word.size()) != 0) {
    return fail(at, "expected a value");
  }
  return at + word.size();
}

void Checker::check_utf8() noexcept {
  if (simdjson::validate_utf8(text_)) return;
  std::size_t offset = 0;
  while (offset < text_.size()) {
    const Utf8Part part = first_utf8_part(text_.substr(offset));
    if (!part.valid) break;
    offset += part.size;
  }
  error_ = JsonError{offset, "invalid UTF-8", JsonError::Limit::None};
}

}  // namespace

std::optional<JsonError> check_json(std::string_view text, const JsonLimits& limits,
                                    JsonOutline* outline) noexcept {
  return Checker(text, limits, outline).run();
}

}  // namespace qq::wire
