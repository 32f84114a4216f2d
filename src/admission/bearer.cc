#include "admission/bearer.h"

#include <algorithm>

namespace qq::admission {
namespace {

constexpr std::string_view kScheme = "bearer";

std::unexpected<Error> refuse(const char* text) {
  return fail(Error::client(ErrorKind::Unauthorized, text));
}

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t';
}
// Without a way out of the loop, so that the compiler takes sixteen at a time.
bool all_visible(std::string_view text) noexcept {
  bool all = true;
  for (const char c : text) all &= c > ' ' && c <= '~';
  return all;
}

// ASCII only: a locale has no say in what a header means.
char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_bearer(std::string_view authorization) noexcept {
  const std::string_view value = trimmed(authorization);
  if (value.size() < kScheme.size()) return false;
  if (!std::ranges::equal(value.substr(0, kScheme.size()), kScheme, {}, lower)) return false;
  return value.size() == kScheme.size() || is_space(value[kScheme.size()]);
}

Result<std::string_view> one_word(std::string_view text) {
  const std::string_view key = trimmed(text);
  if (key.empty()) return refuse("the API key is empty; send it as \"Authorization: Bearer <key>\"");
  if (!all_visible(key)) {
    return refuse("the API key contains a space or a character that is not ASCII; check what was pasted");
  }
  return key;
}

Result<std::string_view> word_behind_scheme(std::string_view authorization) {
  return one_word(trimmed(authorization).substr(kScheme.size()));
}

}  // namespace

Result<std::string_view> parse_bearer(std::string_view authorization) {
  if (!is_bearer(authorization)) {
    return refuse("the Authorization header must read \"Bearer <key>\"");
  }
  return word_behind_scheme(authorization);
}

Result<std::string_view> presented_key(const KeyHeaders& headers) {
  if (headers.authorization && is_bearer(*headers.authorization)) {
    return word_behind_scheme(*headers.authorization);
  }
  if (headers.x_api_key) return one_word(*headers.x_api_key);
  if (headers.api_key) return one_word(*headers.api_key);
  if (headers.x_goog_api_key) return one_word(*headers.x_goog_api_key);
  if (headers.subprotocol) return one_word(*headers.subprotocol);
  if (headers.authorization) return parse_bearer(*headers.authorization);
  return refuse("no API key was sent; send it as \"Authorization: Bearer <key>\"");
}

}  // namespace qq::admission
