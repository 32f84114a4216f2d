// JSON as one text however it was written: members in order, no white space between tokens.
#pragma once
#include <map>
#include <string>

#include "wire/json.h"

namespace qq::testing {

inline std::string canonical_json(wire::JsonValue value) {
  std::string out;
  if (value.is_object()) {
    std::map<std::string, std::string> sorted;
    for (wire::JsonMembers members(value); members.next();)
      sorted[std::string(members.raw_key())] = canonical_json(members.value());
    for (const auto& [key, member] : sorted)
      out.append(out.empty() ? "{\"" : ",\"").append(key).append("\":").append(member);
    return out.empty() ? "{}" : out + "}";
  }
  if (value.is_string()) {
    wire::append_json_string(out, value.string());
    return out;
  }
  if (!value.is_array()) return std::string(value.text());
  for (wire::JsonElements each(value); each.next();)
    out.append(out.empty() ? "[" : ",").append(canonical_json(each.value()));
  return out.empty() ? "[]" : out + "]";
}

}  // namespace qq::testing
