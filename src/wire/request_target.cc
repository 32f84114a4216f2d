#include "wire/request_target.h"

#include <array>
#include <cstddef>

#include "wire/byte_class.h"
#include "wire/http_head.h"

namespace qq::wire {
namespace {

// Visible ASCII without what RFC 3986 forbids everywhere and some readers repair ('\' to '/'), and
// without '#': a fragment is never sent. The rest ("{", "|", "^") is what browsers send in queries.
constexpr std::array<bool, 256> kTargetBytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x21; c < 0x7f; ++c) table[c] = true;
  for (const unsigned char c : {'"', '<', '>', '\\', '#'}) table[c] = false;
  return table;
}();

constexpr std::array<bool, 256> kHostBytes = [] {
  std::array<bool, 256> table{};
  for (const unsigned char c :
       std::string_view("-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[c] = true;
  }
  return table;
}();

bool is_host_byte(char c) noexcept {
  return kHostBytes[static_cast<unsigned char>(c)];
}

bool is_address_byte(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit(c) || (lower >= 'a' && lower <= 'f') || c == ':' || c == '.';
}

bool is_port(std::string_view text) noexcept {
  unsigned value = 0;
  if (text.size() > 5) return false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value <= 65535;
}

// The size of "http://" or "https://" at the start, or 0.
std::size_t scheme_size(std::string_view target) noexcept {
  if (iequals(target.substr(0, 7), "http://")) return 7;
  if (iequals(target.substr(0, 8), "https://")) return 8;
  return 0;
}

}  // namespace

bool is_host(std::string_view text) noexcept {
  std::size_t i = 0;
  if (!text.empty() && text[0] == '[') {
    for (i = 1; i < text.size() && is_address_byte(text[i]);) ++i;
    if (i < 3 || i == text.size() || text[i] != ']') return false;
    ++i;
  } else {
    while (i < text.size() && is_host_byte(text[i])) ++i;
    if (i == 0) return false;
  }
  return i == text.size() || (text[i] == ':' && is_port(text.substr(i + 1)));
}

RequestTarget check_target(std::string_view method, std::string_view target) noexcept {
  for (const char c : target) {
    if (!kTargetBytes[static_cast<unsigned char>(c)]) return {.error = "bad character in the request target"};
  }
  if (target.empty()) return {.error = "no request target"};
  if (target[0] == '/') return {};
  if (target == "*") {
    if (method != "OPTIONS") return {.error = "the target \"*\" is for OPTIONS only"};
    return {};
  }
  const std::size_t scheme = scheme_size(target);
  if (scheme == 0) return {.error = "bad request target"};
  const std::string_view rest = target.substr(scheme);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (!is_host(authority)) return {.error = "bad authority in the request target"};
  return {.authority = authority};
}

std::string_view strip_authority(std::string_view target) noexcept {
  if (target.empty() || target[0] == '/') return target;
  const std::size_t scheme = scheme_size(target);
  if (scheme == 0) return target;
  const std::size_t end = target.find_first_of("/?", scheme);
  return end == std::string_view::npos ? std::string_view() : target.substr(end);
}

}  // namespace qq::wire
