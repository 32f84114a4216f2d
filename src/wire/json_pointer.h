// JSON pointers (RFC 6901): a value inside a document by the way to it, as in "/choices/0/delta". Of members
// of the same name the first counts. The whole document ("") is not pointed at by anybody here.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace qq::wire {

// The reference tokens, decoded. Nothing for what is no pointer: it begins with '/', and '~' stands only in
// "~0" (a tilde) and "~1" (a slash).
std::optional<std::vector<std::string>> parse_json_pointer(std::string_view text);

// The value in a checked document. Nothing if the way ends before it: no such member or element, "-", or no
// container. Without tokens nothing, too.
std::optional<JsonValue> at_pointer(JsonValue document, std::span<const std::string> tokens) noexcept;

}  // namespace qq::wire
