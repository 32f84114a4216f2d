// Why something did not survive a translation, in words for operators and callers. These are all reasons
// there are: docs/providers.md says which dialects have which, and a test compares.
#pragma once
#include <string_view>

namespace qq::dialects::loss {

inline constexpr std::string_view kNoSuchField = "the target has no such field";
inline constexpr std::string_view kForeignState = "it means something only to the provider that made it";
inline constexpr std::string_view kForeignTool = "a tool that only its own provider can run";
inline constexpr std::string_view kForeignPart = "a part that only its own dialect has";
inline constexpr std::string_view kOutOfRange = "clamped to what the target takes";
inline constexpr std::string_view kTooMany = "more of them than the target takes";
inline constexpr std::string_view kSchemaWord = "a word of JSON Schema that the target does not know";
inline constexpr std::string_view kNearest = "the nearest that the target has";
inline constexpr std::string_view kNotJson = "no JSON object, wrapped into one";
inline constexpr std::string_view kNotTogether =
    "the target refuses it together with something else that was asked for";
inline constexpr std::string_view kNoPlace = "the caller's dialect has no place for it";

}  // namespace qq::dialects::loss
