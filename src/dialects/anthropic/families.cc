#include "dialects/anthropic/families.h"

#include <algorithm>
#include <array>

namespace qq::dialects::anthropic {
namespace {

using enum ThinkingForm;

// The first whose mark is in the name.
constexpr std::array<Family, 25> kFamilies{{
    {"claude-instant", 4096},
    {"claude-2", 4096},
    {"claude-3-5", 8192},
    {"claude-3-7", 64000, Budget},
    {"claude-3", 4096},
    {"opus-4-1", 32000, Budget, true, true, false},
    {"opus-4-5", 64000, Budget, true, true, false},
    {"opus-4-6", 128000, Either, true, true, false, false},
    {"opus-4-7", 128000, Adaptive, true, false, false, false},
    {"opus-4-8", 128000, Adaptive, true, false, false, false},
    {"opus-4", 32000, Budget},
    {"sonnet-4-6", 64000, Either, true, true, false, false},
    {"sonnet-4-5", 64000, Budget, true, true, false},
    {"sonnet-4", 64000, Budget},
    {"haiku-4-5", 64000, Budget, true, true, false},
    {"haiku-4", 64000, Budget, true, true, false},
    {"fable-5-1", 128000, Always, true, false, false, false, false},
    {"mythos-5-1", 128000, Always, true, false, false, false, false},
    {"fable-5", 128000, Always, true, false, false, false},
    {"mythos-5", 128000, Always, true, false, false, false},
    {"mythos-preview", 128000, Always, true, false, false, false},
    {"fable", 128000, Always, true, false, false, false, false},
    {"mythos", 128000, Always, true, false, false, false, false},
    {"claude", 64000, Adaptive, true, false, false, false},
    {"", 8192, Budget},
}};

}  // namespace

const Family& family_of(std::string_view upstream_model) noexcept {
  const auto found = std::ranges::find_if(kFamilies, [&](const Family& family) {
    return upstream_model.find(family.mark) != std::string_view::npos;
  });
  return *found;
}

}  // namespace qq::dialects::anthropic
