#include "wire/utf8.h"

#include <simdjson.h>

namespace qq::wire {
namespace {

// Whether an ill-formed part at a piece's end may yet become a character.
bool may_go_on(std::string_view part) noexcept {
  const auto lead = static_cast<unsigned char>(part.front());
  return lead >= 0xc2 && lead <= 0xf4;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  return simdjson::validate_utf8(text.data(), text.size());
}

void Utf8Mender::feed(std::string_view piece, std::string& out) {
  std::string joined;
  if (!begun_.empty()) {
    joined = std::move(begun_);
    begun_.clear();
    joined.append(piece);
    piece = joined;
  }
  if (is_utf8(piece)) {
    out.append(piece);
    return;
  }
  while (!piece.empty()) {
    const Utf8Part part = first_utf8_part(piece);
    if (!part.valid && part.size == piece.size() && may_go_on(piece)) {
      begun_ = piece;
      return;
    }
    out.append(part.valid ? piece.substr(0, part.size) : kReplacementCharacter);
    piece.remove_prefix(part.size);
  }
}

void Utf8Mender::finish(std::string& out) {
  if (!begun_.empty()) out.append(kReplacementCharacter);
  begun_.clear();
}

Utf8Part first_utf8_part(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {.size = 1, .valid = true};
  std::size_t size = 0;
  // Of the second byte; it rules out overlong forms, surrogates and what lies above U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {};
  }
  for (std::size_t i = 1; i < size; ++i) {
    if (i == text.size() || byte(i) < low || byte(i) > high) return {.size = i, .valid = false};
    low = 0x80;
    high = 0xbf;
  }
  return {.size = size, .valid = true};
}

std::string_view as_utf8(std::string_view text, std::string& repaired) {
  if (simdjson::validate_utf8(text)) return text;
  repaired.clear();
  repaired.reserve(text.size() + 16);
  while (!text.empty()) {
    const Utf8Part part = first_utf8_part(text);
    repaired.append(part.valid ? text.substr(0, part.size) : kReplacementCharacter);
    text.remove_prefix(part.size);
  }
  return repaired;
}

std::size_t encode_utf8(std::uint32_t code_point, char* out) noexcept {
  if (code_point >= 0xd800 && code_point < 0xe000) code_point = 0xfffd;
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<char>(0xc0 | code_point >> 6);
    out[1] = static_cast<char>(0x80 | (code_point & 0x3f));
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<char>(0xe0 | code_point >> 12);
    out[1] = static_cast<char>(0x80 | (code_point >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (code_point & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | code_point >> 18);
  out[1] = static_cast<char>(0x80 | (code_point >> 12 & 0x3f));
  out[2] = static_cast<char>(0x80 | (code_point >> 6 & 0x3f));
  out[3] = static_cast<char>(0x80 | (code_point & 0x3f));
  return 4;
}

}  // namespace qq::wire
