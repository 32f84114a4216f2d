#pragma once
#include <string_view>

#include "base/result.h"
#include "dialects/dialect.h"
#include "model/target.h"

namespace qq::dialects::gemini {

// The model is no part of it: it stands in the URL.
Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);

}  // namespace qq::dialects::gemini
