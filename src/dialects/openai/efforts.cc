#include "dialects/openai/efforts.h"

#include <algorithm>
#include <array>
#include <optional>

namespace qq::dialects::openai {
namespace {

using enum model::ReasoningWish::Effort;

struct Efforts {
  std::string_view mark;  // in the name, where a word begins
  std::string_view also;  // as well
  Effort least;           // but for None
  Effort most;
  bool none = false;
};
// The first whose marks are in the name.
constexpr std::array<Efforts, 17> kEfforts{{
    {"gpt-5", "-chat", Medium, Medium},
    {"gpt-5-pro", "", High, High},
    {"gpt-5-codex", "", Low, High},
    {"gpt-5.1-codex-max", "", Low, XHigh},
    {"gpt-5.1-codex", "", Low, High},
    {"gpt-5.1", "", Low, High, true},
    {"gpt-5.", "-pro", Medium, XHigh},
    {"gpt-5.", "-codex", Low, XHigh},
    {"gpt-5.2", "", Low, XHigh, true},
    {"gpt-5.3", "", Low, XHigh, true},
    {"gpt-5.4", "", Low, XHigh, true},
    {"gpt-5.5", "", Low, XHigh, true},
    {"gpt-5.", "", Low, Max, true},
    {"gpt-5", "", Minimal, High},
    {"o1", "", Low, High},
    {"o3", "", Low, High},
    {"o4", "", Low, High},
}};
constexpr Efforts kOther{"", "", Low, High, true};
constexpr Efforts kOpenWeights{"gpt-oss", "", Low, High};

bool holds_word(std::string_view name, std::string_view mark) noexcept {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  for (std::size_t at = name.find(mark); at != std::string_view::npos; at = name.find(mark, at + 1)) {
    if (at == 0 || !is_letter(name[at - 1])) return true;
  }
  return false;
}

const Efforts* efforts_of(std::string_view name) noexcept {
  if (holds_word(name, kOpenWeights.mark)) return &kOpenWeights;
  const auto found = std::ranges::find_if(kEfforts, [&](const Efforts& each) {
    return holds_word(name, each.mark) && name.find(each.also) != std::string_view::npos;
  });
  return found == kEfforts.end() ? nullptr : &*found;
}

}  // namespace

Effort nearest_effort(Effort wish, const model::Target& target) noexcept {
  const Efforts* taken = efforts_of(target.upstream_model);
  // A deployment may be called anything.
  if (taken == nullptr) taken = efforts_of(target.model);
  if (taken == nullptr) taken = &kOther;
  if (wish == None && taken->none) return None;
  return std::clamp(wish, taken->least, taken->most);
}

}  // namespace qq::dialects::openai
