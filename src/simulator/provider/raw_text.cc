#include "simulator/provider/raw_text.h"

#include <array>
#include <utility>

namespace qq::simulator {
namespace {

struct RawText {
  std::string_view text;
  std::string_view mark;
};
constexpr std::array<RawText, 2> kRawTexts{
    {{kInvalidUtf8, "qq~invalid~utf8"}, {kLoneSurrogate, "qq~lone~surrogate"}}};

}  // namespace

std::string_view marked_raw(std::string_view text) noexcept {
  for (const RawText& each : kRawTexts) {
    if (text == each.text) return each.mark;
  }
  return text;
}

std::string with_raw_text(std::string encoded) {
  for (const RawText& each : kRawTexts) {
    const std::size_t at = encoded.find(each.mark);
    if (at != std::string::npos) encoded.replace(at, each.mark.size(), each.text);
  }
  return encoded;
}

}  // namespace qq::simulator
