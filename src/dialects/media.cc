#include "dialects/media.h"

#include <algorithm>
#include <array>

namespace qq::dialects {
namespace {

// What Gemini takes by its address: its own files and videos.
bool is_googles(std::string_view url) noexcept {
  constexpr std::array<std::string_view, 4> kOwn = {"https://generativelanguage.googleapis.com/",
                                                    "https://www.youtube.com/", "https://youtube.com/",
                                                    "https://youtu.be/"};
  return std::ranges::any_of(kOwn, [&](std::string_view own) { return url.starts_with(own); });
}

}  // namespace

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

bool is_text_file(const model::MediaPart& media) noexcept {
  constexpr std::array<std::string_view, 6> kTypes{"application/json",     "application/xml",
                                                   "application/yaml",     "application/x-yaml",
                                                   "application/x-ndjson", "application/javascript"};
  constexpr std::array<std::string_view, 8> kEndings{".txt", ".md",   ".csv",  ".json",
                                                     ".xml", ".yaml", ".html", ".log"};
  const std::string_view type = std::string_view(media.media_type).substr(0, media.media_type.find(';'));
  if (type.empty()) {
    return std::ranges::any_of(kEndings, [&](std::string_view each) { return media.name.ends_with(each); });
  }
  return type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") ||
         std::ranges::find(kTypes, type) != kTypes.end();
}

std::string_view image_type(std::string_view base64) noexcept {
  if (base64.starts_with("/9j/")) return "image/jpeg";
  if (base64.starts_with("R0lG")) return "image/gif";
  if (base64.starts_with("UklG")) return "image/webp";
  return "image/png";
}

bool takes_url(const model::Target& target, model::Dialect dialect, const model::MediaPart& media) noexcept {
  using MediaKind = model::MediaPart::Kind;
  switch (dialect) {
    case model::Dialect::Gemini: return is_googles(media.data);
    case model::Dialect::Bedrock:
    case model::Dialect::Ollama: return false;
    case model::Dialect::Anthropic: return target.quirks.messages_form == model::MessagesForm::Direct;
    case model::Dialect::OpenAiChat:
      if (media.kind == MediaKind::File) return target.quirks.chat.takes_file_urls;
      return media.kind != MediaKind::Audio;
    default: return true;
  }
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
