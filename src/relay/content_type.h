// What a provider says that its reply is.
#pragma once
#include <string_view>

#include "model/endpoint.h"
#include "wire/http_head.h"

namespace qq::relay {

inline bool has_media_type(std::string_view content_type, std::string_view media_type) noexcept {
  return wire::iequals(content_type.substr(0, media_type.size()), media_type);
}

inline bool is_event_stream(std::string_view content_type) noexcept {
  return has_media_type(content_type, "text/event-stream");
}

// What a stream of a provider's endpoint may call itself.
inline bool is_stream_of(model::Endpoint endpoint, std::string_view content_type) noexcept {
  if (is_event_stream(content_type)) return true;
  const bool is_bedrock = endpoint == model::Endpoint::Converse || endpoint == model::Endpoint::Messages;
  if (is_bedrock) return has_media_type(content_type, "application/vnd.amazon.eventstream");
  const bool is_lines = endpoint == model::Endpoint::OllamaChat || endpoint == model::Endpoint::Declared;
  return is_lines && (has_media_type(content_type, "application/x-ndjson") ||
                      has_media_type(content_type, "application/json"));
}

inline bool is_html(std::string_view content_type) noexcept {
  return has_media_type(content_type, "text/html");
}

}  // namespace qq::relay
