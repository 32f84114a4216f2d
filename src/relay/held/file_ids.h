// Ids of files inside a request: {"file_id": "file-abc"} wherever it stands, and {"file_ids": […]}, in
// whatever dialect. Pure.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::relay {

// Whether a JSON text may have such a member, its key written plainly or with escapes: quick, and sometimes
// wrong about yes.
bool may_name_files(std::string_view json) noexcept;

using FileIds = std::set<std::string, std::less<>>;

// Adds those of a checked document, until there are more than kFileIdsMax: as many as one request may name.
inline constexpr std::size_t kFileIdsMax = 256;
// What could be none of an object is passed over. Keys are read in any spelling: providers' readers differ.
//
// Inputs::OfTools: a member "input" holds what a tool was called with, as in Anthropic's dialect, and is a
// model's or a tool's affair.
enum class Inputs : bool { Read, OfTools };
void add_file_ids(wire::JsonValue document, Inputs inputs, FileIds& ids);

}  // namespace qq::relay
