// JSON that a provider sent, before anything of it is handed on.
#pragma once
#include <string>
#include <string_view>

namespace qq::dialects {

// Nothing if `text` is JSON, else why it is not (a literal). Bytes that are no UTF-8 are no fault of the
// client's, and must not get into what is written for it: where there are any, `text` becomes a view of
// `repaired`, which has U+FFFD in their place.
const char* check_provider_json(std::string_view& text, std::string& repaired);

}  // namespace qq::dialects
