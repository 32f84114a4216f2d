// JSON that a provider sent, before anything of it is handed on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::dialects {

// Nothing if `text` is JSON, else why it is not (a literal). Bytes that are no UTF-8 are no fault of the
// client's, and must not get into what is written for it: where there are any, `text` becomes a view of
// `repaired`, which has U+FFFD in their place.
const char* check_provider_json(std::string_view& text, std::string& repaired);

// The same for those who have no use for the reason.
std::optional<wire::JsonValue> provider_json(std::string_view text, std::string& repaired);

// A figure that is not negative; nothing for all else.
std::optional<std::int64_t> count_in(const std::optional<wire::JsonValue>& value) noexcept;

}  // namespace qq::dialects
