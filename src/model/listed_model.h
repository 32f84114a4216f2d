// A name that clients may ask for, as the lists of models tell it: with what the operator has said of all the
// targets that may answer to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace qq::model {

// Views into the configuration's snapshot.
struct ListedModel {
  std::string_view name;
  std::optional<std::int64_t> context_tokens;  // what fits into the smallest; nothing if one does not say
  std::vector<std::string_view> can;  // what all of them can, in the configuration's words; empty: not said

  [[nodiscard]] bool does(std::string_view word) const noexcept {
    return std::ranges::find(can, word) != can.end();
  }
};

}  // namespace qq::model
