// Cuts a text to a length without splitting a character of its UTF-8.
#pragma once
#include <cstddef>
#include <string_view>

namespace qq {

// The first `most` bytes of `text`, or up to three fewer. Bytes that are no UTF-8 are cut wherever they are.
constexpr std::string_view cut_utf8(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t end = most;
  for (int back = 0; back < 3 && end > 0; ++back) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U) break;
    --end;
  }
  return text.substr(0, end);
}

}  // namespace qq
