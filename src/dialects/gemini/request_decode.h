#pragma once
#include <string_view>

#include "base/result.h"
#include "dialects/dialect.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

Result<model::ChatRequest> decode_request(std::string_view body, const RequestHead& head);
// Of a checked object, for those that carry a request inside another (countTokens).
Result<model::ChatRequest> decode_request(wire::JsonValue document, const RequestHead& head);

}  // namespace qq::dialects::gemini
