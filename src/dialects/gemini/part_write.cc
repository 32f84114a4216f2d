#include "dialects/gemini/part_write.h"

#include "base/text.h"

namespace qq::dialects::gemini {
namespace {

// The name behind `prefix` and its dot; empty if the key lies elsewhere.
std::string_view name_under(std::string_view key, std::string_view prefix) noexcept {
  if (!prefix.empty()) {
    if (!key.starts_with(prefix) || key.size() <= prefix.size() || key[prefix.size()] != '.') return {};
    key.remove_prefix(prefix.size() + 1);
  }
  return key.find('.') == std::string_view::npos ? key : std::string_view();
}

}  // namespace

void write_signature(wire::JsonWriter& json, std::string_view signature) {
  if (!signature.empty()) json.member("thoughtSignature", signature);
}

void write_text(wire::JsonWriter& json, std::string_view text, TextKind kind, std::string_view signature) {
  json.begin_object().member("text", text);
  if (kind == TextKind::Thought) json.member("thought", true);
  write_signature(json, signature);
  json.end_object();
}

bool write_arguments(wire::JsonWriter& json, std::string_view arguments) {
  const std::string_view text = trimmed(arguments);
  if (text.empty() || text == "null") {
    json.raw("{}");
    return true;
  }
  if (text.front() == '{' && !wire::check_json(text)) {
    json.raw(text);
    return true;
  }
  json.begin_object().member("arguments", arguments).end_object();
  return false;
}

void write_media(wire::JsonWriter& json, const model::MediaPart& media, std::string_view media_type) {
  const bool in_line = media.source == model::MediaPart::Source::Base64;
  json.key(in_line ? "inlineData" : "fileData").begin_object();
  if (!media_type.empty()) json.member("mimeType", media_type);
  json.member(in_line ? "data" : "fileUri", media.data).end_object();
}

bool has_extra(const model::ExtraFields& extra, std::string_view prefix) noexcept {
  for (const model::ExtraField& field : extra) {
    if (!name_under(field.key, prefix).empty()) return true;
  }
  return false;
}

void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra, std::string_view prefix) {
  for (const model::ExtraField& field : extra) {
    const std::string_view name = name_under(field.key, prefix);
    if (!name.empty()) json.any_key(name).raw(field.value);
  }
}

}  // namespace qq::dialects::gemini
