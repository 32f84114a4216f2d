// Loads a configuration file: YAML to nodes, nodes to structs by the definition table, then the checks that
// look at more than one key. All mistakes are reported, each with its place.
//
// Pure but for what `Environment` and `load_file` read; nothing is resolved or connected to.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/diagnostic.h"
#include "config/expand.h"

namespace qq::config {

using LoadResult = std::expected<Config, std::vector<Diagnostic>>;

LoadResult load_file(const std::string& path, const Environment& environment);

// `name` stands for the file in messages.
LoadResult load_text(const std::string& name, std::string_view text, const Environment& environment);

}  // namespace qq::config
