// Percent-encoding of what becomes a segment of a path or a value of a query.
#pragma once
#include <string>
#include <string_view>

namespace qq::providers {

// RFC 3986's unreserved characters stay, and those of `also`. Deployment names and model names with ':' or
// '/' must not.
std::string percent_encoded(std::string_view text, std::string_view also = {});

}  // namespace qq::providers
