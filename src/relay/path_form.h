// Paths with ids in them: "/v1/files/{}/content" is one segment for each {}.
#pragma once
#include <array>
#include <string_view>

namespace qq::relay {

// Ids are letters, digits, '_' and '-', at most 256: whatever else stands there names nothing.
bool is_object_id(std::string_view segment) noexcept;

// Whether `path` has the form, and what stands for its segments.
bool matches_form(std::string_view form, std::string_view path,
                  std::array<std::string_view, 2>& segments) noexcept;

}  // namespace qq::relay
