// Variables and files for the tests of this folder. Every value holds the word "canary": no message may.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "config/expand.h"

namespace qq::config {

inline Environment test_environment(std::map<std::string, std::string> more = {}) {
  std::map<std::string, std::string> variables{{"PEPPER", "canary-pepper-0123456789abcdef"},
                                               {"OPENAI_API_KEY", "sk-canary-4f9a8b7c6d5e"},
                                               {"WORD", "canary-word"},
                                               {"EMPTY", ""},
                                               {"NUMBER", "4"},
                                               {"BIG", "1000000"},
                                               {"LINES", "canary-one\ncanary-two"}};
  variables.merge(more);
  Environment environment;
  environment.variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  environment.file = [](const std::string& path) -> std::expected<std::string, std::string> {
    if (path == "/run/secrets/key") return "canary-from-file\n";
    return std::unexpected("cannot be read");
  };
  return environment;
}

}  // namespace qq::config
