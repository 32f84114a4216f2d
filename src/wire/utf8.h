// UTF-8 (RFC 3629), for the places that must know where it breaks. Whether it breaks simdjson says faster.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::wire {

// What stands at the start of `text` (not empty): a whole character, or a maximal ill-formed part, which
// one U+FFFD replaces (Unicode 15, 3.9, "substitution of maximal subparts").
struct Utf8Part {
  std::size_t size = 1;
  bool valid = false;
};
Utf8Part first_utf8_part(std::string_view text) noexcept;

// `text` if it is UTF-8, else `repaired`, which then holds it with U+FFFD for each part that is not.
std::string_view as_utf8(std::string_view text, std::string& repaired);

// Writes `code_point` and returns how many bytes that took. Surrogates become U+FFFD.
std::size_t encode_utf8(std::uint32_t code_point, char* out) noexcept;

bool is_utf8(std::string_view text) noexcept;

// Makes UTF-8 of a text that comes in pieces, cut anywhere: what is ill-formed becomes U+FFFD.
class Utf8Mender {
 public:
  // Appends what is known of the text so far; at most three bytes wait for the next piece.
  void feed(std::string_view piece, std::string& out);
  // The text is over.
  void finish(std::string& out);

 private:
  std::string begun_;  // of a character
};

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

}  // namespace qq::wire
