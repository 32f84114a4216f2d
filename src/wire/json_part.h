// Reading the beginning of a JSON document whose rest has not come yet.
#pragma once
#include <string_view>

#include "wire/json.h"

namespace qq::wire {

// The string that is the top-level member `key` of the object that `part` begins with. Empty text if the key
// (as written, without escapes) does not stand in `part` with the whole of its value, or has another type, or
// if `part` stops being JSON before it. Time linear in `part`, which need not have been checked.
JsonValue member_in_part(std::string_view part, std::string_view key) noexcept;
// The same for an object.
JsonValue object_in_part(std::string_view part, std::string_view key) noexcept;

}  // namespace qq::wire
