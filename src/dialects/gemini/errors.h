// Our errors as Google's clients read them: {"error":{"code","message","status","details"}}.
#pragma once
#include <string>
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects::gemini {

// The status by kind is that of dialects/openai/errors.h.
EncodedError encode_error(const Error& error, std::string_view request_id);
// Bare JSON without `data:`, as Google breaks off a stream: its SDKs raise that, and read an event with an
// error in it as an answer without candidates. No blank line may follow, or they pass over it.
void encode_stream_error(const Error& error, std::string_view request_id, std::string& out);

}  // namespace qq::dialects::gemini
