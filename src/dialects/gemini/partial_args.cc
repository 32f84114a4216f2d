#include "dialects/gemini/partial_args.h"

#include <algorithm>
#include <utility>

namespace qq::dialects::gemini {
namespace {

void append_inside(std::string& out, std::string_view text) {
  std::string literal;
  wire::append_json_string(literal, text);
  out.append(literal, 1, literal.size() - 2);
}

}  // namespace

std::vector<PartialArgs::Step> PartialArgs::steps_of(std::string_view path) {
  std::vector<Step> steps;
  if (path.starts_with('$')) path.remove_prefix(1);
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      std::string_view inside = path.substr(1, close == std::string_view::npos ? close : close - 1);
      path.remove_prefix(close == std::string_view::npos ? path.size() : close + 1);
      const bool quoted = inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"');
      if (quoted) inside = inside.substr(1, inside.size() - 2);
      steps.push_back({!quoted, std::string(inside)});
      continue;
    }
    if (path.front() == '.') path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    if (end != 0) steps.push_back({false, std::string(path.substr(0, end))});
    path.remove_prefix(end);
  }
  return steps;
}

void PartialArgs::close_string(std::string& out) {
  if (std::exchange(string_open_, false)) out += '"';
}

// Leaves the containers that `path` does not share with the last one and enters its own.
void PartialArgs::go_to(std::vector<Step> path, std::string& out) {
  if (path_.empty()) {
    out += '{';
  } else {
    close_string(out);
  }
  std::size_t shared = 0;
  const std::size_t most = std::min(path.size(), path_.size());
  while (shared + 1 < most && path[shared] == path_[shared]) ++shared;
  for (std::size_t depth = path_.size(); depth > shared + 1; --depth) {
    out += path_[depth - 1].is_index ? ']' : '}';
  }
  if (!path_.empty()) out += ',';
  for (std::size_t depth = shared; depth < path.size(); ++depth) {
    if (depth > shared) out += path[depth].is_index ? '[' : '{';
    if (path[depth].is_index) continue;
    wire::append_json_string(out, path[depth].name);
    out += ':';
  }
  path_ = std::move(path);
}

void PartialArgs::take(wire::JsonValue partial, std::string& out) {
  std::vector<Step> path;
  wire::JsonValue value;
  bool is_text = false;
  bool goes_on = false;
  for (wire::JsonMembers members(partial); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "jsonPath") path = steps_of(members.value().string());
    if (key == "willContinue") goes_on = members.value().is_true();
    if (key == "stringValue") is_text = true;
    if (key == "stringValue" || key == "numberValue" || key == "boolValue") value = members.value();
    if (key == "nullValue") value = wire::JsonValue("null");
  }
  // The root is always an object.
  if (path.empty() || path.front().is_index) return;
  const bool same_text = string_open_ && is_text && path == path_;
  if (!same_text) {
    if (value.text().empty()) return;
    go_to(std::move(path), out);
    if (is_text) {
      out += '"';
      string_open_ = true;
    } else {
      out += value.text();
    }
  }
  if (!is_text) return;
  append_inside(out, value.string());
  if (!goes_on) close_string(out);
}

void PartialArgs::finish(std::string& out) {
  if (path_.empty()) {
    out += "{}";
    return;
  }
  close_string(out);
  for (std::size_t depth = path_.size(); depth > 0; --depth) out += path_[depth - 1].is_index ? ']' : '}';
  path_.clear();
}

}  // namespace qq::dialects::gemini
