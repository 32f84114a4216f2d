// What the readers of the small dialects share. Lenient: what a provider refuses is refused in checks/.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat_request.h"
#include "wire/json.h"

namespace qq::simulator {

// Nothing, or "", where the member is absent or no such value.
std::string text_member(wire::JsonValue object, std::string_view key);
std::string json_member(wire::JsonValue object, std::string_view key);
std::optional<std::int64_t> integer_member(wire::JsonValue object, std::string_view key);
// A string or a list of them.
std::vector<std::string> texts_of(std::optional<wire::JsonValue> value);

model::Part text_part(std::string text);
// OpenAI's nesting: {"type":"function","function":{"name","description","parameters"}}.
model::Tool function_tool(wire::JsonValue entry);
// The same of a call in the history; `arguments` as they stand, a string or an object.
model::Part function_call_part(wire::JsonValue entry);

}  // namespace qq::simulator
