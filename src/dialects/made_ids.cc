#include "dialects/made_ids.h"

#include <fmt/format.h>

namespace qq::dialects {

std::string made_call_id(std::string_view seed, std::size_t number) {
  return fmt::format("call_{:016x}{}", fnv1a(seed), number);
}

}  // namespace qq::dialects
