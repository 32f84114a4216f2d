// Short words of a provider's that go into our log and our headers: free text, for all we know, which may
// quote its credential.
#pragma once
#include <string_view>

#include "model/target.h"

namespace qq::relay {

// A finish reason for the record: as it is if it looks like one (letters, digits, '_', '-', '.', 40 at most)
// and like no key, else "other".
std::string_view shown_finish(std::string_view reason, const model::Target& target);

// Whether a header's value may go on to the client: short, one line, without a key.
bool may_be_shown(std::string_view value, const model::Target& target);

}  // namespace qq::relay
