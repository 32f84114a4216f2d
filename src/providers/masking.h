// Takes what looks like a credential out of a provider's words before they are logged or handed on.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/target.h"

namespace qq::providers {

// Keeps a key's prefix and replaces the rest by "****": `sk-…`, `gsk_…`, `AIza…`, a token behind "Bearer ",
// and any unbroken run of 32 or more letters and digits that has both and is not the tail of a prefixed id
// (`resp_…`, `chatcmpl-…` stay: callers need them). Works on JSON text as well: nothing but letters, digits,
// '-', '_' and '.' is replaced.
std::string mask_keys(std::string_view text);

// The same for a whole JSON value. Empty where an escape inside a string hides a key from it
// ("sk\u002d…"): such a value is not to be shown at all.
std::string mask_keys_in_json(std::string_view json);

// Takes the target's own credential out of everything that an error says, whatever it looks like: keys of
// self-hosted servers have no form to know them by. Those of fewer than 8 characters are no secrets, and
// would take words out of the text.
void hide_credential(Error& error, const model::Target& target);

}  // namespace qq::providers
