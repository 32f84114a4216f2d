// Bad configurations and exactly what is said about them, where. Each one is a good file with one change; the
// tables stand in bad_input_*_test.cc, by the kind of mistake.
#pragma once
#include <ostream>
#include <string_view>
#include <vector>

namespace qq::config {

constexpr std::string_view kWholeFile = "";

struct BadInput {
  std::string_view name;
  std::string_view replace;  // its first occurrence in the good file; kWholeFile: everything
  std::string_view with;
  std::vector<std::string_view> mistakes;  // "line:column: message", all of them in order
};

inline void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

const std::vector<BadInput>& bad_syntax();      // no YAML, or none that we take
const std::vector<BadInput>& bad_keys();        // keys that are unknown, repeated or missing
const std::vector<BadInput>& bad_values();      // values that their key does not take
const std::vector<BadInput>& bad_expansions();  // ${…} that cannot be filled in, or with something wrong
const std::vector<BadInput>& bad_meanings();    // what is well written and cannot be

}  // namespace qq::config
