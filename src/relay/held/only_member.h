// Members of JSON objects that decide who may do what: two readers that disagree about which of two members
// counts, or about an odd spelling of its key, are a way around every rule. Pure.
#pragma once
#include <optional>
#include <string_view>

#include "wire/json.h"

namespace qq::relay {

// The member's key is `name`, whatever escapes and capital letters it is spelled with.
bool key_resembles(const wire::JsonMembers& member, std::string_view name);

// Sets `value` to the object's member `key`, or to nothing where there is none. False if it is given twice,
// or spelled with escapes or capital letters. `object` was checked; no object: no members.
bool only_member(wire::JsonValue object, std::string_view key, std::optional<wire::JsonValue>& value);

}  // namespace qq::relay
