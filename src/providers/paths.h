// Where a provider is asked: its base URL and the paths behind it, in the forms of catalogue.h.
#pragma once
#include <string>

#include "base/result.h"
#include "model/target.h"
#include "providers/catalogue.h"

namespace qq::providers {

// The provider's own base URL, or the catalogue's with its places filled in. Errors (Config) name no
// provider.
Result<std::string> base_url_of(const ProviderKind& kind, const ProviderConfig& provider);

// Sets the target's endpoints, and what of its quirks depends on the form of URL. `base`: the base URL's
// path; `target.upstream_model` is set. Errors (Config) name no provider.
Result<> add_paths(const ProviderKind& kind, const ProviderConfig& provider, std::string base,
                   model::Target& target);

}  // namespace qq::providers
