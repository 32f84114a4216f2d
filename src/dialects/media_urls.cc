#include "dialects/media_urls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/fields.h"

namespace qq::dialects {
namespace {

using model::MediaPart;

constexpr std::array<std::string_view, 2> kWeb{"https://", "http://"};

bool begins_with(std::string_view text, std::string_view lower) noexcept {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, ascii_lower);
}

Field field_of(MediaPart::Kind kind) noexcept {
  switch (kind) {
    case MediaPart::Kind::Image: return Field::ImageInput;
    case MediaPart::Kind::Audio: return Field::AudioInput;
    case MediaPart::Kind::Video: return Field::VideoInput;
    default: return Field::FileInput;
  }
}

// The scheme of a URL as it is told to the caller: nothing that could be more than a word.
std::string_view scheme_of(std::string_view url) noexcept {
  constexpr std::size_t kLongest = 20;
  const std::size_t colon = url.find(':');
  if (colon == 0 || colon > kLongest) return {};
  const bool plain = std::ranges::all_of(url.substr(0, colon), [](char c) {
    return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
  return plain ? url.substr(0, colon) : std::string_view();
}

Result<> check_url(const MediaPart& media, model::Dialect caller) {
  if (std::ranges::any_of(kWeb, [&](std::string_view web) { return media.data.starts_with(web); })) return {};
  const std::string_view scheme = scheme_of(media.data);
  std::string why = "a file must be named by a whole URL, https://host/path, or sent as base64";
  if (begins_with(scheme, "data")) {
    why = "a data URL must hold base64: data:image/png;base64,...";
  } else if (!scheme.empty()) {
    why = fmt::format(
        "URLs of the scheme '{}' are not possible with this model: give an https URL or the bytes", scheme);
  }
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(why),
                              std::string(name_of(field_of(media.kind), caller)));
  error.type = "invalid_request_error";
  return fail(std::move(error));
}

Result<> check_parts(const std::vector<model::Part>& parts, model::Dialect caller) {
  for (const model::Part& part : parts) {
    if (const auto* media = part.as<MediaPart>();
        media != nullptr && media->source == MediaPart::Source::Url) {
      QQ_CHECK(check_url(*media, caller));
    } else if (const auto* result = part.as<model::ToolResultPart>()) {
      QQ_CHECK(check_parts(result->content, caller));
    }
  }
  return {};
}

void tidy_parts(std::vector<model::Part>& parts) {
  for (model::Part& part : parts) {
    if (auto* media = part.as<MediaPart>(); media != nullptr && media->source == MediaPart::Source::Url) {
      for (const std::string_view web : kWeb) {
        if (begins_with(media->data, web)) media->data.replace(0, web.size(), web);
      }
    } else if (auto* result = part.as<model::ToolResultPart>()) {
      tidy_parts(result->content);
    }
  }
}

bool is_url(wire::JsonValue text, std::string_view url) {
  constexpr std::size_t kEscape = 6;  // bytes that a character may take
  const std::size_t size = text.raw_string().size();
  if (size < url.size() || size > kEscape * url.size()) return false;
  const std::string said = text.string();
  return said.size() == url.size() && std::ranges::equal(said, url, {}, ascii_lower, ascii_lower);
}

// Appends the way to the URL, in one pass over the document.
class UrlSearch {
 public:
  UrlSearch(std::string_view url, std::string& path) noexcept : url_(url), path_(path) {}

  bool find_in(wire::JsonMembers& members) {
    const std::size_t before = path_.size();
    while (members.next()) {
      if (!path_.empty()) path_.push_back('.');
      path_.append(members.raw_key());
      if (find_at(members)) return true;
      path_.resize(before);
    }
    return false;
  }
  bool find_in(wire::JsonElements& elements) {
    const std::size_t before = path_.size();
    for (std::size_t index = 0; elements.next(); ++index) {
      path_.append(fmt::format("[{}]", index));
      if (find_at(elements)) return true;
      path_.resize(before);
    }
    return false;
  }

 private:
  // As deep as the document, whose depth is limited.
  bool find_at(wire::JsonWalk& walk) {
    if (walk.is_string()) return is_url(walk.value(), url_);
    if (walk.is_object()) {
      auto members = wire::JsonMembers::inside(walk);
      return find_in(members);
    }
    if (walk.is_array()) {
      auto elements = wire::JsonElements::inside(walk);
      return find_in(elements);
    }
    return false;
  }

  std::string_view url_;
  std::string& path_;
};

}  // namespace

std::string place_of_url(wire::JsonValue request, std::string_view url) {
  std::string path;
  UrlSearch search(url, path);
  bool is_there = false;
  if (request.is_object()) {
    wire::JsonMembers members(request);
    is_there = search.find_in(members);
  } else if (request.is_array()) {
    wire::JsonElements elements(request);
    is_there = search.find_in(elements);
  }
  return is_there ? path : std::string();
}

void tidy_media_urls(model::ChatRequest& request) {
  for (model::Turn& turn : request.turns) tidy_parts(turn.parts);
}

Result<> check_media_urls(const model::ChatRequest& request) {
  for (const model::Turn& turn : request.turns) QQ_CHECK(check_parts(turn.parts, request.dialect));
  return {};
}

}  // namespace qq::dialects
