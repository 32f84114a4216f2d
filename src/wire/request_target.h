// Request targets and hosts (RFC 9112 3.2, RFC 3986 3.2): which spellings we take, and their parts.
#pragma once
#include <string_view>

namespace qq::wire {

// A host with an optional port: letters, digits, '-', '.', '_' and '~', or an IP address in brackets.
// Narrower than RFC 3986: no user information, no percent-encoding, no sub-delimiters such as ','.
bool is_host(std::string_view text) noexcept;

struct RequestTarget {
  const char* error = nullptr;  // a literal, or nothing
  std::string_view authority;   // of the absolute form
};
// Judges the form: origin "/p?q", absolute "http://host/p?q", and "*" for OPTIONS only.
RequestTarget check_target(std::string_view method, std::string_view target) noexcept;

// What follows the authority of an absolute-form target; any other target as it is.
std::string_view strip_authority(std::string_view target) noexcept;

}  // namespace qq::wire
