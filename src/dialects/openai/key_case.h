// Keys that are one of ours but for their case.
#pragma once
#include <string_view>

#include "wire/json.h"

namespace qq::dialects::openai {

// Whether the member's key is `name` but for its case, however it is escaped; also if it is `name` itself.
// Some providers read keys without regard to case, the last one wins: a twin like "MODEL" would be theirs.
bool is_other_case(const wire::JsonMembers& members, std::string_view name);

}  // namespace qq::dialects::openai
