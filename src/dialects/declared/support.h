// What a description has a place for. What changes the meaning of a request is refused where there is none;
// what only shapes the answer is left out and reported.
#pragma once
#include <vector>

#include "dialects/fields.h"

namespace qq::dialects::declared {

std::vector<SupportEntry> support_of(const model::DeclaredAdapter& adapter);

// The caller's name for what the system says.
std::string_view system_name(model::Dialect caller) noexcept;

}  // namespace qq::dialects::declared
