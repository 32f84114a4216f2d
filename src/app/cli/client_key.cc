#include "app/cli/client_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/key_format.h"
#include "admission/key_ring.h"

namespace qq::app::cli {

std::string key_mistake(std::string_view key) {
  const bool visible = std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7F; });
  if (key.empty() || !visible || key.size() > admission::KeyRing::kPresentedMax) {
    return fmt::format("at most {} visible ASCII characters without spaces",
                       admission::KeyRing::kPresentedMax);
  }
  if (admission::key_format(key) == admission::KeyFormat::Mistyped) {
    return "the key begins like one of this gateway but its checksum is wrong: it is mistyped or cut";
  }
  return {};
}

}  // namespace qq::app::cli
