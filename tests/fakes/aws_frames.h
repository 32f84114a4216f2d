// AWS's frames as a provider writes them.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qq::testing {

inline std::string aws_frame(const std::vector<std::pair<std::string_view, std::string_view>>& headers,
                             std::string_view payload) {
  const auto number = [](std::size_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      out += static_cast<char>(value >> shift & 0xffU);
    return out;
  };
  const auto crc = [](std::string_view text) {
    return crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  };
  std::string lines;
  for (const auto& [name, value] : headers) {
    lines += number(name.size(), 1);
    lines += name;
    lines += '\x07';
    lines += number(value.size(), 2);
    lines += value;
  }
  std::string out = number(16 + lines.size() + payload.size(), 4) + number(lines.size(), 4);
  out += number(crc(out), 4);
  out += lines;
  out += payload;
  return out + number(crc(out), 4);
}
inline std::string aws_event(std::string_view type, std::string_view payload) {
  return aws_frame({{":event-type", type}, {":message-type", "event"}}, payload);
}

}  // namespace qq::testing
