#include "dialects/media.h"

namespace qq::dialects {

bool split_data_url(std::string_view url, std::string_view& media_type, std::string_view& base64) noexcept {
  if (!url.starts_with("data:")) return false;
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return false;
  std::string_view head = url.substr(5, comma - 5);
  if (!head.ends_with(";base64")) return false;
  head.remove_suffix(7);
  media_type = head.substr(0, head.find(';'));
  base64 = url.substr(comma + 1);
  return true;
}

model::MediaPart media_of_url(model::MediaPart::Kind kind, std::string_view url) {
  model::MediaPart media{.kind = kind,
                         .source = model::MediaPart::Source::Url,
                         .data = {},
                         .media_type = {},
                         .name = {},
                         .detail = {}};
  std::string_view media_type;
  std::string_view base64;
  if (split_data_url(url, media_type, base64)) {
    media.source = model::MediaPart::Source::Base64;
    media.data = base64;
    media.media_type = media_type;
  } else {
    media.data = url;
  }
  return media;
}

}  // namespace qq::dialects
