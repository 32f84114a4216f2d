// Media by their URLs, which OpenAI's dialects and those that imitate them use for bytes as well.
#pragma once
#include <string_view>

#include "model/part.h"
#include "model/target.h"

namespace qq::dialects {

// A "data:image/png;base64,…" taken apart, parameters of its media type left out; false if it is no such URL.
bool split_data_url(std::string_view url, std::string_view& media_type, std::string_view& base64) noexcept;
// Media by their URL, or their bytes if it is a data URL.
model::MediaPart media_of_url(model::MediaPart::Kind kind, std::string_view url);

// Whether a file is text whatever is done with it: text/…, JSON, XML, YAML; of a file without a type, by the
// ending of its name.
bool is_text_file(const model::MediaPart& media) noexcept;
// Of an image without a type, by how its base64 begins; PNG if it is none of those that models take.
std::string_view image_type(std::string_view base64) noexcept;

// Whether a target of this dialect fetches by itself what `media` names by its URL.
bool takes_url(const model::Target& target, model::Dialect dialect, const model::MediaPart& media) noexcept;

}  // namespace qq::dialects
