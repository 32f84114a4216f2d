// Error objects as providers of the OpenAI dialects write them into a 200: as a whole answer, as a stream
// event, or inside a choice. The words are the provider's own, neither cut nor masked: what they mean, and
// what of them may be shown, is said by providers/upstream_error.h.
#pragma once
#include <optional>

#include "base/error.h"
#include "wire/json.h"

namespace qq::dialects::openai {

// True for what stands for an error: an object with members or a text. `error: null`, `""` and `{}` are not.
bool is_error_value(wire::JsonValue error) noexcept;

// A StreamError from the value of an `error` member: {message, type, param, code} in any combination, or a
// plain text. `code` may be a number; it is kept as text.
Error error_from_value(wire::JsonValue error);

// Looks for an error in a document that holds no answer: {"error":…}, [{"error":…}], Mistral's
// {"object":"error",…}, xAI's and DashScope's {"code","message"}, {"detail"}, MiniMax's base_resp.
// Nothing if the document holds none.
std::optional<Error> find_error(wire::JsonValue document);

}  // namespace qq::dialects::openai
