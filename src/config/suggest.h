// "Did you mean …?": the known word nearest to a mistyped one.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace qq::config {

// Edits (insert, delete, replace, swap neighbours) between two words; no substring is edited twice.
// Source: F. Damerau, 1964; "optimal string alignment". Words longer than 64 bytes count as far apart.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest word within a third of its length (at least one edit, at most three), upper case and `-` for
// `_` forgiven. The first of equals wins. Nothing if none is near.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace qq::config
