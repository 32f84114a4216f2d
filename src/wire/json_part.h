// Reading a JSON document of which only a part is there: the beginning, whose rest has not come yet, or the
// end.
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
// The last object in `tail`, at whatever depth, that is a member `key`; `tail` may begin anywhere in its
// document. Empty text if there is none, or if that one is cut or not valid. Time linear in `tail`.
JsonValue object_in_tail(std::string_view tail, std::string_view key) noexcept;

}  // namespace qq::wire
