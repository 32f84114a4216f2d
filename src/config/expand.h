// Expansion of `${VAR}`, `${VAR:-default}` and `${file:/path}` inside a scalar, after YAML parsing, so that
// no value can change the file's structure. `$$` stands for one `$`; a `$` before anything else is itself.
// What was expanded is not expanded again.
#pragma once
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/read_file.h"

namespace qq::config {

// Where variables and files come from; the process's own in production, a table in tests.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // The file's content, at most kMaxIncludedBytes, or why there is none, as `read_file` words it.
  std::function<std::expected<std::string, std::string>(const std::string& path)> file;
  Pipes pipes = Pipes::Refuse;  // whether the configuration itself may be one

  // `pipes` holds for the files above, too. A pipe can be read but once, so whoever reads again refuses it.
  static Environment of_process(Pipes pipes = Pipes::Refuse);
};

inline constexpr std::size_t kMaxIncludedBytes = 64U << 10U;

struct Expanded {
  std::string text;
  bool from_outside = false;  // some of it came from a variable or file: never show it
};

// One line end at the end of a file is left out. The error names the variable or file, never a value.
std::expected<Expanded, std::string> expand(std::string_view text, const Environment& environment);

}  // namespace qq::config
