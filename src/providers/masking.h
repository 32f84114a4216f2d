// Takes what looks like a credential out of a provider's words before they are logged or handed on.
#pragma once
#include <string>
#include <string_view>

namespace qq::providers {

// Keeps a key's prefix and replaces the rest by "****": `sk-…`, `gsk_…`, `AIza…`, a token behind "Bearer ",
// and any unbroken run of 32 or more letters and digits that has both and is not the tail of a prefixed id
// (`resp_…`, `chatcmpl-…` stay: callers need them). Works on JSON text as well: nothing but letters, digits,
// '-', '_' and '.' is replaced.
std::string mask_keys(std::string_view text);

}  // namespace qq::providers
