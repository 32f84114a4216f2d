// Small text work: building where a formatting library costs more than the work around it, and the few
// questions about ASCII that every reader of foreign text asks.
#pragma once
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace qq {

// Appends `value` in decimal.
template <std::integral Integer>
void append_decimal(std::string& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  // Not as two iterators: those go the long way of a replacement.
  out.append(digits, static_cast<std::size_t>(end - digits));
}

// Appends the pieces behind one another, with one look at the room for all of them.
template <std::convertible_to<std::string_view>... Pieces>
[[gnu::always_inline]] inline void append_all(std::string& out, const Pieces&... pieces) {
  const std::size_t before = out.size();
  const std::size_t after = before + (std::string_view(pieces).size() + ...);
  // What libstdc++ 12 tells the operation is the room that it made, not the size that was asked for.
  out.resize_and_overwrite(after, [&](char* text, std::size_t /*room*/) noexcept {
    char* at = text + before;
    const auto put = [&at](std::string_view piece) {
      std::char_traits<char>::copy(at, piece.data(), piece.size());  // also of nothing
      at += piece.size();
    };
    (put(std::string_view(pieces)), ...);
    return after;
  });
}

// A number as a piece for append_all().
class Decimal {
 public:
  template <std::integral Integer>
  explicit Decimal(Integer value) noexcept
      : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr -
                                       digits_)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::string_view() const noexcept { return {digits_, size_}; }

 private:
  char digits_[24];
  std::size_t size_;
};

constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The white space of JSON and HTTP.
constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Without the white space at both ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace qq
