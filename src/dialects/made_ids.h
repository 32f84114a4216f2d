// Ids that nobody gave: made of what is at hand, so that they are the same every time. No secrets.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::dialects {

// FNV-1a of 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// Of a call that its provider gave none: unique within the answer whose seed and number these are.
std::string made_call_id(std::string_view seed, std::size_t number);

}  // namespace qq::dialects
