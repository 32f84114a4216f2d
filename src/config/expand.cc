#include "config/expand.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace qq::config {
namespace {

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

std::expected<std::string, std::string> look_up(std::string_view inside, const Environment& environment) {
  constexpr std::string_view kFile = "file:";
  if (inside.starts_with(kFile)) {
    const std::string path(inside.substr(kFile.size()));
    if (path.empty()) return std::unexpected("${file:} names no file");
    auto content = environment.file(path);
    if (!content) return std::unexpected(fmt::format("the file of ${{file:{}}} {}", path, content.error()));
    if (content->ends_with('\n')) content->pop_back();
    if (content->ends_with('\r')) content->pop_back();
    return std::move(*content);
  }
  const std::size_t separator = inside.find(":-");
  const std::string name(inside.substr(0, separator));
  if (!is_variable_name(name)) {
    return std::unexpected(
        "${…} must hold a variable's name (letters, digits and _), VAR:-default or file:/path; "
        "write $$ for a plain dollar sign");
  }
  auto value = environment.variable(name);
  if (separator != std::string_view::npos) {
    if (value && !value->empty()) return std::move(*value);
    return std::string(inside.substr(separator + 2));
  }
  if (!value) {
    return std::unexpected(
        fmt::format("the environment variable {0} is not set; set it or write ${{{0}:-default}}", name));
  }
  return std::move(*value);
}

}  // namespace

std::expected<Expanded, std::string> expand(std::string_view text, const Environment& environment) {
  Expanded out;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    out.text.append(text.substr(0, dollar));
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      out.text.push_back('$');
      text.remove_prefix(1);
    } else if (text.starts_with('{')) {
      const std::size_t end = text.find('}');
      if (end == std::string_view::npos) {
        return std::unexpected("${ without its closing brace; write $$ for a plain dollar sign");
      }
      const std::string_view inside = text.substr(1, end - 1);
      if (inside.find("${") != std::string_view::npos) {
        return std::unexpected("${…} inside ${…} is not supported");
      }
      auto value = look_up(inside, environment);
      if (!value) return std::unexpected(std::move(value).error());
      out.text.append(*value);
      out.from_outside = true;
      text.remove_prefix(end + 1);
    } else {
      out.text.push_back('$');
    }
  }
  return out;
}

Environment Environment::of_process(Pipes pipes) {
  Environment environment;
  environment.pipes = pipes;
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
  environment.file = [pipes](const std::string& path) -> std::expected<std::string, std::string> {
    auto content = read_file(path, kMaxIncludedBytes, pipes);
    if (content && content->size() > kMaxIncludedBytes) {
      return std::unexpected(fmt::format("is larger than {} KiB", kMaxIncludedBytes / 1024));
    }
    return content;
  };
  return environment;
}

}  // namespace qq::config
