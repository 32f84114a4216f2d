#include "relay/held/only_member.h"

#include "wire/http_head.h"

namespace qq::relay {

bool only_member(wire::JsonValue object, std::string_view key, std::optional<wire::JsonValue>& value) {
  value.reset();
  for (wire::JsonMembers members(object); members.next();) {
    if (members.raw_key() == key) {
      if (value) return false;
      value = members.value();
    } else if (members.key_is(key) || wire::iequals(members.raw_key(), key)) {
      return false;
    }
  }
  return true;
}

}  // namespace qq::relay
