#include "relay/shown_word.h"

#include <algorithm>
#include <array>

#include "providers/masking.h"
#include "wire/http_head.h"

namespace qq::relay {
namespace {

constexpr std::size_t kFinishMax = 40;
// "application/json; charset=utf-8" and a version have 40 at most.
constexpr std::size_t kHeaderValueMax = 100;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_word_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-' || c == '.';
}

// What nearly all answers end with: no key, whoever says it.
constexpr std::array<std::string_view, 8> kKnownFinishes = {"stop",     "tool_calls", "length", "end_turn",
                                                            "tool_use", "completed",  "STOP",   "max_tokens"};

// Words without a digit look like no key, and need no copy to know it.
bool shows_a_key(std::string_view text, const model::Target& target) {
  if (providers::shows_credential(text, providers::credential_of(target))) return true;
  return std::ranges::any_of(text, is_digit) && providers::mask_keys(text) != text;
}

}  // namespace

std::string_view shown_finish(std::string_view reason, const model::Target& target) {
  for (const std::string_view known : kKnownFinishes) {
    if (reason == known) return known;
  }
  const bool is_word = reason.size() <= kFinishMax && std::ranges::all_of(reason, is_word_char);
  return is_word && !shows_a_key(reason, target) ? reason : std::string_view("other");
}

bool may_be_shown(std::string_view value, const model::Target& target) {
  return value.size() <= kHeaderValueMax && wire::is_safe_field_value(value) && !shows_a_key(value, target);
}

}  // namespace qq::relay
