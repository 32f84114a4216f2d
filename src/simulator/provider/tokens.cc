#include "simulator/provider/tokens.h"

namespace qq::simulator {
namespace {

bool is_word(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

// Bytes of the character at the front; 1 where it is no UTF-8.
std::size_t character_size(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 1;
  }
  return size;
}

}  // namespace

std::vector<std::string> token_pieces(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    std::size_t size = text.front() == ' ' && text.size() > 1 && is_word(text[1]) ? 1 : 0;
    while (size < text.size() && is_word(text[size])) ++size;
    if (size == 0) size = character_size(text);
    pieces.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

}  // namespace qq::simulator
