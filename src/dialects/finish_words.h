// A dialect's words for why an answer ended, as a table that is read both ways.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "model/finish.h"

namespace qq::dialects {

struct FinishWord {
  std::string_view word;
  model::Finish finish;
};

// Nothing for words that are not in the table.
inline std::optional<model::Finish> finish_of_word(std::span<const FinishWord> table,
                                                   std::string_view word) noexcept {
  const auto found = std::ranges::find(table, word, &FinishWord::word);
  return found == table.end() ? std::nullopt : std::optional(found->finish);
}

// The first word of a finish is the one it is written as; empty if it has none.
inline std::string_view word_of_finish(std::span<const FinishWord> table, model::Finish finish) noexcept {
  const auto found = std::ranges::find(table, finish, &FinishWord::finish);
  return found == table.end() ? std::string_view() : found->word;
}

}  // namespace qq::dialects
