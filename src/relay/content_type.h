// What a provider says that its reply is.
#pragma once
#include <string_view>

#include "wire/http_head.h"

namespace qq::relay {

inline bool has_media_type(std::string_view content_type, std::string_view media_type) noexcept {
  return wire::iequals(content_type.substr(0, media_type.size()), media_type);
}

inline bool is_event_stream(std::string_view content_type) noexcept {
  return has_media_type(content_type, "text/event-stream");
}

inline bool is_html(std::string_view content_type) noexcept {
  return has_media_type(content_type, "text/html");
}

}  // namespace qq::relay
