// The providers' own codes for what went wrong, where they say more than the status: a table of each one's
// own, then what several have in common.
#pragma once
#include <optional>
#include <string_view>

#include "base/error.h"
#include "providers/error_body.h"

namespace qq::providers {

// What an error of a provider of `kind` means by its code or type; nothing if neither is known. `status` is 0
// where none was said.
std::optional<ErrorKind> meaning_of_code(std::string_view kind, int status, const ErrorBody& body) noexcept;

}  // namespace qq::providers
