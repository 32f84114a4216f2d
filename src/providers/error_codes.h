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

// Whether a provider of another dialect than OpenAI's refuses a request because it is longer than the model's
// context; they have no code for it. `message` is in small letters. Only its beginning counts: further on it
// may quote the caller.
bool begins_as_context_overflow(std::string_view kind, const ErrorBody& body,
                                std::string_view message) noexcept;

}  // namespace qq::providers
