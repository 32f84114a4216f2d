// Whether what an encoder reports lost is among what the documents say can be lost.
#pragma once
#include <algorithm>
#include <string>

#include "dialects/loss_tables.h"

namespace qq::translation {

// The first that is not; empty if all are.
inline std::string undeclared(const dialects::Losses& losses, dialects::SupportTable table,
                              dialects::LossNotes notes) {
  for (const dialects::Loss& loss : losses) {
    const bool in_table = std::ranges::any_of(
        table, [&](const dialects::SupportEntry& entry) { return entry.support.why == loss.why; });
    const bool in_notes = std::ranges::find(notes, loss.why, &dialects::LossNote::why) != notes.end();
    if (!in_table && !in_notes) return loss.field + ": " + std::string(loss.why);
  }
  return {};
}

}  // namespace qq::translation
