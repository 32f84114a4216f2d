#include "dialects/provider_json.h"

#include "wire/json.h"
#include "wire/utf8.h"

namespace qq::dialects {

const char* check_provider_json(std::string_view& text, std::string& repaired) {
  if (!wire::check_json(text)) return nullptr;
  if (const auto error = wire::check_json(text, {.check_utf8 = false})) return error->reason;
  text = wire::as_utf8(text, repaired);
  return nullptr;
}

}  // namespace qq::dialects
