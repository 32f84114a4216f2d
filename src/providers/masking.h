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

// The target's own credential as it goes out. Empty if it has fewer than 8 characters: that is no secret, and
// would take words out of the texts. It lives as long as the target.
std::string_view credential_of(const model::Target& target) noexcept;

// Whether the text has the credential in it, in capital or small letters, percent-encoded as a query would
// have it or as it is.
bool shows_credential(std::string_view text, std::string_view credential);

// Takes the credential out of a text, whatever it looks like (see above): keys of self-hosted servers have no
// form to know them by. Also a beginning of it, of 8 characters or more, at the end of the text, which may
// have been cut there. To be called before the text is masked or cut, since both may leave a part.
void hide_credential(std::string& text, std::string_view credential);
// The same for a whole JSON value. It becomes empty where an escape hides the credential.
void hide_credential_in_json(std::string& json, std::string_view credential);
// The same for everything that an error says.
void hide_credential(Error& error, const model::Target& target);

}  // namespace qq::providers
