// Field names and values: comparing, finding, checking.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "wire/byte_class.h"
#include "wire/http_head.h"

namespace qq::wire {
namespace {

constexpr std::array<unsigned char, 256> kLower = [] {
  std::array<unsigned char, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<unsigned char>(i >= 'A' && i <= 'Z' ? i + 32 : i);
  }
  return table;
}();

// Whether two words are the same but for the case of letters, all bytes at once. Where they differ, it must
// be in the bit of case, and the byte must be a letter: "{" is no "[".
template <typename Word>
bool same_word(const char* a, const char* b) noexcept {
  constexpr Word kOnes = static_cast<Word>(~Word{0}) / 0xff;
  constexpr Word kHighs = kOnes * 0x80;
  Word left = 0;
  Word right = 0;
  std::memcpy(&left, a, sizeof left);
  std::memcpy(&right, b, sizeof right);
  const Word differ = left ^ right;
  if (differ == 0) return true;
  if ((differ & ~(kOnes * 0x20)) != 0) return false;
  // Seven bits and an addition each, so that nothing is carried into the next byte; its high bit is the
  // answer.
  const Word low = (left | kOnes * 0x20) & ~kHighs;
  const Word from_a = low + kOnes * (0x80 - 'a');
  const Word beyond_z = low + kOnes * (0x7f - 'z');
  const Word letters = from_a & ~beyond_z & ~left & kHighs;
  return (static_cast<Word>(differ << 2) & ~letters) == 0;
}

// `size` is at least a word's. What is left over is covered by a last, overlapping word.
template <typename Word>
bool same_words(const char* a, const char* b, std::size_t size) noexcept {
  const std::size_t last = size - sizeof(Word);
  for (std::size_t at = 0; at < last; at += sizeof(Word)) {
    if (!same_word<Word>(a + at, b + at)) return false;
  }
  return same_word<Word>(a + last, b + last);
}

}  // namespace

bool iequals(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size >= 8) return same_words<std::uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return same_words<std::uint32_t>(a.data(), b.data(), size);
  for (std::size_t i = 0; i < size; ++i) {
    if (kLower[static_cast<unsigned char>(a[i])] != kLower[static_cast<unsigned char>(b[i])]) return false;
  }
  return true;
}

std::optional<std::string_view> Fields::find(std::string_view name) const noexcept {
  for (const Field& field : all()) {
    if (iequals(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const noexcept {
  std::size_t found = 0;
  for (const Field& field : all()) found += iequals(field.name, name) ? 1 : 0;
  return found;
}

bool Fields::add(Field field) noexcept {
  if (size_ == kFieldsMax) return false;
  std::construct_at(&fields_[size_], field);
  ++size_;
  return true;
}

bool is_safe_field_value(std::string_view value) noexcept {
  const char* end = value.data() + value.size();
  return find_control(value.data(), end) == end;
}

bool is_token(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_token_byte(c)) return false;
  }
  return !text.empty();
}

}  // namespace qq::wire
