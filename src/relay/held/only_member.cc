#include "relay/held/only_member.h"

#include <string>

#include "wire/http_head.h"

namespace qq::relay {

bool key_resembles(const wire::JsonMembers& member, std::string_view name) {
  constexpr std::size_t kEscape = 6;  // bytes that a character may take
  const std::string_view key = member.raw_key();
  if (!member.key_escapes()) return wire::iequals(key, name);
  if (key.size() < name.size() || key.size() > kEscape * name.size()) return false;
  return wire::iequals(wire::JsonValue('"' + std::string(key) + '"').string(), name);
}

bool only_member(wire::JsonValue object, std::string_view key, std::optional<wire::JsonValue>& value) {
  value.reset();
  for (wire::JsonMembers members(object); members.next();) {
    if (members.raw_key() == key) {
      if (value) return false;
      value = members.value();
    } else if (key_resembles(members, key)) {
      return false;
    }
  }
  return true;
}

}  // namespace qq::relay
