#include "dialects/openai/key_case.h"

#include <string>

#include "wire/http_head.h"

namespace qq::dialects::openai {

bool is_other_case(const wire::JsonMembers& members, std::string_view name) {
  const std::string_view key = members.raw_key();
  if (key.size() < name.size()) return false;
  if (key.size() == name.size()) return wire::iequals(key, name);
  if (!members.key_escapes()) return false;
  return wire::iequals(wire::JsonValue('"' + std::string(key) + '"').string(), name);
}

}  // namespace qq::dialects::openai
