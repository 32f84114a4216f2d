// What of a request proves who sends it, by the forms of catalogue.h.
#pragma once
#include "base/result.h"
#include "model/target.h"
#include "providers/catalogue.h"

namespace qq::providers {

// Sets the header lines of the target's credential, or what its requests are signed with (catalogue.h,
// check_credential, says which credentials are good).
void add_credential(const ProviderKind& kind, const ProviderConfig& provider, const Secret& credential,
                    model::Target& target);

}  // namespace qq::providers
