// The definition table in two other forms: for editors and for readers.
#pragma once
#include <string>

namespace qq::config {

// JSON Schema (draft 2020-12), with every key's meaning as its description. Editors that know it complete and
// check while typing; the loader is stricter (it also knows names and their references).
std::string json_schema();

// The reference in docs/configuration.md: one Markdown table for each section.
std::string reference_markdown();

}  // namespace qq::config
