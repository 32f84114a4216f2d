// Turns as Google's contents: two roles, system turns apart, the results of one step together and in the
// order of their calls, and the signatures that Gemini 3 wants back.
#pragma once
#include <string>

#include "base/result.h"
#include "dialects/dialect.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {

// Writes the members `contents` and, if there is one, `systemInstruction`.
Result<> write_contents(wire::JsonWriter& json, const model::ChatRequest& request,
                        const model::Target& target, Losses& losses);

}  // namespace qq::dialects::gemini
