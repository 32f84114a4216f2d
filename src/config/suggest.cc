#include "config/suggest.h"

#include <algorithm>
#include <array>
#include <string>

namespace qq::config {
namespace {

constexpr std::size_t kMaxWord = 64;

std::string folded(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > kMaxWord || b.size() > kMaxWord) return kMaxWord;
  std::array<std::array<std::size_t, kMaxWord + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::string wanted = folded(word);
  std::optional<std::string_view> best;
  std::size_t best_distance = kMaxWord;
  for (const std::string_view candidate : known) {
    const std::size_t allowed = std::clamp<std::size_t>(candidate.size() / 3, 1, 3);
    // Each edit changes the length by one at most.
    if (std::max(wanted.size(), candidate.size()) - std::min(wanted.size(), candidate.size()) > allowed)
      continue;
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance <= allowed && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace qq::config
