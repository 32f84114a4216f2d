// Reading a client's objects as Google's parser does (proto JSON): a field by its camelCase or snake_case
// name, null as absent, one value where a list of one is meant, numbers also as strings.
//
// Two readers that disagree about which of two spellings counts are a way around every rule, so a second
// spelling of a field we act on and an escaped one are refused.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

// `param` is the field as a path: "contents[0].parts[1].text".
Error invalid_field(std::string message, std::string param);
inline Error wrong_type(const std::string& param, std::string_view wanted) {
  return invalid_field("'" + param + "' must be " + std::string(wanted), param);
}

// True for "systemInstruction" and "system_instruction" against the former.
bool is_field(std::string_view raw_key, std::string_view camel) noexcept;

inline std::string join_path(std::string_view path, std::string_view name) {
  std::string out(path);
  if (!out.empty()) out += '.';
  out += name;
  return out;
}
inline std::string index_path(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

// Finds the field among `names` (at most 64); `names.size()` if it is none of them. `seen` holds a bit per
// name.
Result<std::size_t> find_field(std::string_view raw_key, std::span<const std::string_view> names,
                               std::uint64_t& seen, std::string_view path);

// Calls take(index in names, key, value) for each member that is not null, and stops at its first error.
template <typename Take>
Result<> read_members(wire::JsonValue object, std::span<const std::string_view> names, std::string_view path,
                      Take take) {
  if (!object.is_object()) return fail(wrong_type(std::string(path), "an object"));
  std::uint64_t seen = 0;
  for (wire::JsonMembers members(object); members.next();) {
    QQ_TRY(const std::size_t index, find_field(members.raw_key(), names, seen, path));
    if (members.is_null()) continue;
    QQ_CHECK(take(index, members.raw_key(), members.value()));
  }
  return {};
}

// Calls take(path, element) for each element of a list, or for the one value that stands for it.
template <typename Take>
Result<> read_list(wire::JsonValue list, std::string_view path, Take take) {
  if (!list.is_array()) return take(std::string(path), list);
  std::size_t index = 0;
  for (wire::JsonElements elements(list); elements.next(); ++index) {
    QQ_CHECK(take(index_path(path, index), elements.value()));
  }
  return {};
}

// A whole number, also as "7" or 7.0.
std::optional<std::int64_t> whole_number(wire::JsonValue value) noexcept;
std::optional<double> real_number(wire::JsonValue value) noexcept;
Result<std::string> text_field(wire::JsonValue value, const std::string& path);

// `json` without the white space between its tokens.
model::Json compact(std::string_view json);

// A key as it reads, from between its quotes.
std::string key_text(std::string_view raw_key);
// A member without a place in the neutral model; `raw_key` as it stands in the document.
model::ExtraField extra_field(std::string_view prefix, std::string_view raw_key, wire::JsonValue value);

}  // namespace qq::dialects::gemini
