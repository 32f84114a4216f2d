// A provider's JSON, read: it may be handed on only if it is JSON and UTF-8, and most of its texts need no
// copy.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::dialects {

// What a provider sent as JSON that may be handed on as it is: itself, or what is in `room`, where U+FFFD
// stands for what is no UTF-8. Nothing if it is no JSON.
std::optional<wire::JsonValue> provider_json(std::string_view text, std::string& room);

// A text without a copy where nothing in it is escaped; otherwise it is in `scratch`. Empty for what is none.
std::string_view text_in(const std::optional<wire::JsonValue>& value, std::string& scratch);

// A figure that is not negative; nothing for all else.
std::optional<std::int64_t> count_in(const std::optional<wire::JsonValue>& value) noexcept;

}  // namespace qq::dialects
