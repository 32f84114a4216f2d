// What of an operator's text may be repeated in a message.
#pragma once
#include <string>
#include <string_view>

namespace qq::config {

// "`text`", shortened, without control characters; "a value that looks like a credential" where it does,
// since people put keys into the wrong places.
std::string shown(std::string_view text);

bool looks_like_credential(std::string_view text);

}  // namespace qq::config
