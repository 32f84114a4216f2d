// Finds strings by a view, without making a string of it:
// std::unordered_map<std::string, T, StringHash, std::equal_to<>>.
#pragma once
#include <functional>
#include <string_view>

namespace qq {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

}  // namespace qq
