#include "providers/percent.h"

namespace qq::providers {

std::string percent_encoded(std::string_view text, std::string_view also) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || also.find(c) != std::string_view::npos;
    if (stays) {
      out += c;
    } else {
      out += '%';
      out += kHexDigits[byte >> 4U];
      out += kHexDigits[byte & 15U];
    }
  }
  return out;
}

}  // namespace qq::providers
