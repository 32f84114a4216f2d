#include "config/shown.h"

#include <algorithm>
#include <array>

#include "base/utf8_cut.h"

namespace qq::config {
namespace {

// How keys of providers, clouds and tokens begin.
constexpr std::array<std::string_view, 10> kPrefixes{"sk-",  "sk_", "xai-", "gsk_",    "AKIA",
                                                     "AIza", "eyJ", "hf_",  "Bearer ", "pplx-"};
constexpr std::size_t kLongestRun = 24;  // letters and digits without a break: no name that people give
constexpr std::size_t kLongestShown = 60;

}  // namespace

bool looks_like_credential(std::string_view text) {
  for (const std::string_view prefix : kPrefixes) {
    if (text.find(prefix) != std::string_view::npos) return true;
  }
  // User info in a URL.
  if (text.find("://") != std::string_view::npos && text.find('@') != std::string_view::npos) return true;
  std::size_t run = 0;
  bool digit = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '+' && c != '/' && c != '_') {
      run = 0;
      digit = false;
      continue;
    }
    ++run;
    digit = digit || is_digit;
    if (run >= kLongestRun && digit) return true;
  }
  return false;
}

std::string shown(std::string_view text) {
  if (text.empty()) return "an empty text";
  if (looks_like_credential(text)) return "a value that looks like a credential";
  const bool cut = text.size() > kLongestShown;
  text = cut_utf8(text, kLongestShown);
  std::string out = "`";
  for (const char c : text) out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c);
  if (cut) out += "…";
  out.push_back('`');
  return out;
}

}  // namespace qq::config
