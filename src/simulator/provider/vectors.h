// What the built-in models embed: a vector of length one, made from the text and nothing else.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qq::simulator {

std::vector<float> unit_vector(std::string_view input, std::uint64_t dimensions);
// A JSON array, with `between` behind each comma.
std::string numbers_json(std::span<const float> vector, std::string_view between = {});

}  // namespace qq::simulator
