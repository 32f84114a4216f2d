// The form that makes a file: `file`, and of OpenAI's `purpose` and what else there is. `model`, which says
// whose account is meant, is ours and goes no further; all other bytes stay as they are.
//
// Pure. Views point into the body that was given, which outlives this.
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "relay/held/holding_store.h"

namespace qq::relay {

struct HeldForm {
  std::string_view file;        // its bytes in the body
  std::string_view purpose;     // may be empty
  std::string_view model;       // empty: not given
  std::size_t model_begin = 0;  // of its part, which is taken out
  std::size_t model_end = 0;
};

// Errors: InvalidRequest, with the field where it is one's.
Result<HeldForm> read_held_form(HoldingKind kind, std::string_view content_type, std::string_view body);

// The form that goes on, with `file` in place of the file's bytes.
std::vector<std::string_view> form_pieces(const HeldForm& form, std::string_view body, std::string_view file);

}  // namespace qq::relay
