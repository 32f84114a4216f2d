// Base64 (RFC 4648, standard alphabet) of embeddings and images.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace qq::simulator {

std::string to_base64(std::string_view bytes);
// Nothing for characters outside the alphabet or a wrong length; padding is required.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace qq::simulator
