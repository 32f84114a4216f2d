// Text that no JSON writer would let through (broken UTF-8, half a surrogate pair): it travels through the
// dialects' encoders as a mark, which is replaced in their bytes.
#pragma once
#include <string>
#include <string_view>

namespace qq::simulator {

// What the built-in answers say under the faults `invalid_utf8` and `lone_surrogate`.
inline constexpr std::string_view kInvalidUtf8 = "caf\xe9 \xff\xfe";
inline constexpr std::string_view kLoneSurrogate = "\\ud83d";

// Of the fault `tiny_events`: the event that is repeated.
inline constexpr std::string_view kTinyMark = "qq~tiny~event";

// The mark of such a text; any other text as it is.
std::string_view marked_raw(std::string_view text) noexcept;
// Marks become what they stand for.
std::string with_raw_text(std::string encoded);

}  // namespace qq::simulator
