// Percent-encoded text (RFC 3986 2.1), read. For writing, providers/percent.h knows what must be encoded.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace qq {

// "%2F" and its kind decoded; nothing for what is no such text.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace qq
