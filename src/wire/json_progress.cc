#include "wire/json_progress.h"

#include <array>
#include <cstdint>

#include "wire/json_scan.h"

namespace qq::wire {
namespace {

// What stands between strings and brackets: numbers, words, separators and white space.
constexpr std::array<bool, 256> kPlainBytes = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("0123456789+-.eEtruefalsn,: \t\r\n")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

bool is_plain(char c) noexcept {
  return kPlainBytes[static_cast<unsigned char>(c)];
}

}  // namespace

bool JsonProgress::take_mark(char mark) noexcept {
  switch (mark) {
    case '"': in_string_ = depth_ > 0; return in_string_;
    case '{':
    case '[':
      if (complete() || depth_ == kDepthMax) return false;
      begun_ = true;
      is_object_[depth_++] = mark == '{';
      return true;
    case '}':
    case ']':
      if (depth_ == 0 || is_object_[depth_ - 1] != (mark == '}')) return false;
      --depth_;
      return true;
    default: return false;
  }
}

bool JsonProgress::feed(std::string_view bytes) noexcept {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    if (escaped_) {
      escaped_ = false;
      if (static_cast<unsigned char>(*at++) < 0x20) return false;
    } else if (in_string_) {
      std::uint8_t high = 0;
      at = find_string_stop(at, end, high);
      if (at == end) break;
      const char stop = *at++;
      escaped_ = stop == '\\';
      in_string_ = stop != '"';
      if (in_string_ && !escaped_) return false;
    } else if (depth_ == 0) {
      at = skip_json_space(at, end);
      if (at != end && !take_mark(*at++)) return false;
    } else {
      while (at != end && is_plain(*at)) ++at;
      if (at != end && !take_mark(*at++)) return false;
    }
  }
  return true;
}

}  // namespace qq::wire
