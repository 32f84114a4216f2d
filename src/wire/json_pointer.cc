#include "wire/json_pointer.h"

#include <charconv>

namespace qq::wire {
namespace {

std::optional<JsonValue> element_at(JsonValue array, std::string_view token) noexcept {
  const bool leading_zero = token.size() > 1 && token.front() == '0';
  std::size_t left = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), left);
  if (leading_zero || error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  for (JsonElements each(array); each.next(); --left) {
    if (left == 0) return each.value();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> parse_json_pointer(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back() += text[i];
    } else if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      tokens.back() += text[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return tokens;
}

std::optional<JsonValue> at_pointer(JsonValue document, std::span<const std::string> tokens) noexcept {
  if (tokens.empty()) return std::nullopt;
  std::optional<JsonValue> at = document;
  for (const std::string& token : tokens) {
    if (!at->is_object() && !at->is_array()) return std::nullopt;
    at = at->is_object() ? at->member(token) : element_at(*at, token);
    if (!at) return std::nullopt;
  }
  return at;
}

}  // namespace qq::wire
