// What a translation loses, all of it: for docs/providers.md and the test that compares it. Encoders go by
// their own tables (fields.h); what they find out from a field's value, or of things that are no Field, is
// named here.
#pragma once
#include <span>
#include <string_view>

#include "dialects/fields.h"

namespace qq::dialects {

struct LossNote {
  std::string_view what;  // in words
  std::string_view why;   // of dialects/losses.h
};
using LossNotes = std::span<const LossNote>;

// A target's table; empty for dialects that no target speaks, and for Declared: each description has its
// own (declared/support.h).
SupportTable support_table(model::Dialect target) noexcept;
// What a request can lose on its way to such a target beyond that table.
LossNotes request_notes(model::Dialect target) noexcept;
// What an answer can lose on its way to a client of this dialect.
LossNotes answer_notes(model::Dialect client) noexcept;

// The section of docs/providers.md: a table of fields by target, then the notes.
std::string loss_section();

}  // namespace qq::dialects
