// Base64 (RFC 4648): the standard alphabet with padding, and the one for URLs and file names without.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace qq {

std::string to_base64(std::string_view bytes);
// Nothing for characters outside the alphabet or a wrong length; padding is required.
std::optional<std::string> from_base64(std::string_view text);

std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace qq
