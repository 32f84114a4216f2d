#include "relay/path_form.h"

#include <algorithm>

namespace qq::relay {

bool is_object_id(std::string_view segment) noexcept {
  return !segment.empty() && segment.size() <= 256 && std::ranges::all_of(segment, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool matches_form(std::string_view form, std::string_view path,
                  std::array<std::string_view, 2>& segments) noexcept {
  std::size_t found = 0;
  while (!form.empty() && !path.empty()) {
    if (form.starts_with("{}")) {
      const std::string_view segment = path.substr(0, path.find('/'));
      if (!is_object_id(segment) || found == segments.size()) return false;
      segments[found++] = segment;
      form.remove_prefix(2);
      path.remove_prefix(segment.size());
    } else {
      if (form.front() != path.front()) return false;
      form.remove_prefix(1);
      path.remove_prefix(1);
    }
  }
  return form.empty() && path.empty();
}

}  // namespace qq::relay
