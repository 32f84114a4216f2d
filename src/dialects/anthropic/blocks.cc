#include "dialects/anthropic/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dialects/carried_state.h"

namespace qq::dialects::anthropic {
namespace {

using model::Dialect;
using model::Part;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

// The members that all blocks have; true if `member` is one of them.
bool take_common(const JsonMembers& member, Part& out, Fault& fault) {
  if (member.key_is("type")) return true;
  if (!member.key_is("cache_control")) return false;
  fault = take_cache(member, out.cache);
  return true;
}

Fault text_block(JsonValue block, Part& out) {
  model::TextPart text;
  bool said = false;
  for (JsonMembers members(block); members.next();) {
    Fault fault;
    if (take_common(members, out, fault)) {
    } else if (members.key_is("text")) {
      said = members.is_string();
      fault = take_text(members, text.text);
    } else if (members.key_is("citations")) {
      for (auto citations = JsonElements::inside(members); citations.next();) {
        text.citations.emplace_back(citations.value().text());
      }
    } else {
      take_extra(members, out.extra);
    }
    if (fault) return fault;
  }
  if (!said) return {"text", "Field required"};
  out.is = std::move(text);
  return {};
}

Fault thinking_block(JsonValue block, Part& out) {
  model::ReasoningPart reasoning;
  std::string signature;
  for (JsonMembers members(block); members.next();) {
    Fault fault;
    if (take_common(members, out, fault)) {
    } else if (members.key_is("thinking")) {
      fault = take_text(members, reasoning.text);
    } else if (members.key_is("signature")) {
      fault = take_text(members, signature);
    } else if (members.key_is("data")) {
      reasoning.kind = model::ReasoningPart::Kind::Redacted;
      fault = take_text(members, signature);
    } else {
      take_extra(members, out.extra);
    }
    if (fault) return fault;
  }
  if (!signature.empty()) out.state = state_of_field(signature, Dialect::Anthropic);
  out.is = std::move(reasoning);
  return {};
}

Fault call_block(JsonValue block, Part& out) {
  model::ToolCallPart call;
  for (JsonMembers members(block); members.next();) {
    Fault fault;
    if (take_common(members, out, fault)) {
    } else if (members.key_is("id")) {
      fault = take_text(members, call.id);
    } else if (members.key_is("name")) {
      fault = take_text(members, call.name);
    } else if (members.key_is("input")) {
      if (!members.is_null() && !members.is_object()) fault.what = "Input should be a valid dictionary";
      if (members.is_object()) call.arguments = members.value().text();
    } else {
      take_extra(members, out.extra);
    }
    if (fault) return fault.path.empty() ? inside("input", std::move(fault)) : fault;
  }
  if (call.name.empty()) return {"name", "Field required"};
  if (call.arguments.empty()) call.arguments = "{}";
  out.is = std::move(call);
  return {};
}

Fault result_block(JsonValue block, Part& out) {
  model::ToolResultPart result;
  for (JsonMembers members(block); members.next();) {
    Fault fault;
    if (take_common(members, out, fault)) {
    } else if (members.key_is("tool_use_id")) {
      fault = take_text(members, result.call_id);
    } else if (members.key_is("content")) {
      if (!members.is_null()) fault = inside("content", decode_content(members.value(), result.content));
    } else if (members.key_is("is_error")) {
      fault = take_flag(members, result.is_error);
    } else {
      take_extra(members, out.extra);
    }
    if (fault) return fault;
  }
  if (result.call_id.empty()) return {"tool_use_id", "Field required"};
  out.is = std::move(result);
  return {};
}

// False: a source that the neutral model has no word for.
bool take_source(JsonValue source, model::MediaPart& media, Fault& fault) {
  using Source = model::MediaPart::Source;
  const auto type = source.member("type");
  const std::string_view word = type ? type->raw_string() : std::string_view();
  std::string_view key = "data";
  if (word == "base64") {
    media.source = Source::Base64;
  } else if (word == "text") {
    media.source = Source::Text;
  } else if (word == "url") {
    media.source = Source::Url;
    key = "url";
  } else if (word == "file") {
    media.source = Source::FileId;
    key = "file_id";
  } else {
    return false;
  }
  for (JsonMembers members(source); members.next() && !fault;) {
    if (members.key_is(key)) fault = take_text(members, media.data);
    if (members.key_is("media_type")) fault = take_text(members, media.media_type);
  }
  if (!fault && media.data.empty()) fault = {std::string(key), "Field required"};
  return true;
}

bool media_block(JsonValue block, model::MediaPart::Kind kind, Part& out, Fault& fault) {
  model::MediaPart media;
  media.kind = kind;
  bool known = false;
  for (JsonMembers members(block); members.next() && !fault;) {
    if (take_common(members, out, fault)) {
    } else if (members.key_is("source")) {
      known = take_source(members.value(), media, fault);
      if (fault) fault = inside("source", std::move(fault));
    } else if (members.key_is("title")) {
      fault = take_text(members, media.name);
    } else {
      take_extra(members, out.extra);
    }
  }
  out.is = std::move(media);
  return known;
}

}  // namespace

Fault inside(std::string_view at, Fault fault) {
  if (fault) fault.path = fault.path.empty() ? std::string(at) : fmt::format("{}.{}", at, fault.path);
  return fault;
}

Fault take_text(const JsonMembers& member, std::string& out) {
  if (member.is_null()) return {};
  if (!member.is_string()) return {std::string(member.raw_key()), "Input should be a valid string"};
  const JsonValue value = member.value();
  const std::string_view raw = value.raw_string();
  if (raw.find('\\') == std::string_view::npos) {
    out = raw;
  } else {
    out = value.string();
  }
  return {};
}

Fault take_flag(const JsonMembers& member, bool& out) {
  if (member.is_null()) return {};
  const JsonValue value = member.value();
  if (!value.is_true() && !value.is_false())
    return {std::string(member.raw_key()), "Input should be a valid boolean"};
  out = value.is_true();
  return {};
}

Fault take_cache(const JsonMembers& member, std::optional<model::CacheMark>& out) {
  if (member.is_null()) return {};
  if (!member.is_object()) return {"cache_control", "Input should be a valid dictionary"};
  using Ttl = model::CacheMark::Ttl;
  model::CacheMark mark;
  if (const auto ttl = member.value().member("ttl"); ttl && !ttl->is_null()) {
    if (ttl->raw_string() != "5m" && ttl->raw_string() != "1h")
      return {"cache_control.ttl", "Input should be '5m' or '1h'"};
    mark.ttl = ttl->raw_string() == "1h" ? Ttl::OneHour : Ttl::FiveMinutes;
  }
  out = mark;
  return {};
}

void take_extra(const JsonMembers& member, model::ExtraFields& out) {
  std::string key(member.raw_key());
  if (key.find('\\') != std::string::npos) key = JsonValue(fmt::format("\"{}\"", key)).string();
  out.push_back({std::move(key), std::string(member.value().text())});
}

Fault decode_block(JsonValue block, Part& out) {
  if (!block.is_object()) return {"", "Input should be a valid dictionary"};
  const auto type = block.member("type");
  if (!type || !type->is_string()) return {"type", "Field required"};
  const std::string_view word = type->raw_string();
  if (word == "text") return text_block(block, out);
  if (word == "thinking" || word == "redacted_thinking") return thinking_block(block, out);
  if (word == "tool_use") return call_block(block, out);
  if (word == "tool_result") return result_block(block, out);
  if (word == "image" || word == "document") {
    using Kind = model::MediaPart::Kind;
    Fault fault;
    if (media_block(block, word == "image" ? Kind::Image : Kind::File, out, fault) || fault) return fault;
    out = Part();
  }
  out.is = model::OpaquePart{Dialect::Anthropic, std::string(word), std::string(block.text())};
  return {};
}

Fault decode_content(JsonValue content, std::vector<Part>& out) {
  if (content.is_string()) {
    std::string text = content.string();
    if (!text.empty()) out.emplace_back(model::TextPart{.text = std::move(text), .citations = {}});
    return {};
  }
  if (!content.is_array()) return {"", "Input should be a valid string or a list of blocks"};
  std::size_t number = 0;
  for (JsonElements blocks(content); blocks.next(); ++number) {
    if (Fault fault = decode_block(blocks.value(), out.emplace_back()))
      return inside(fmt::format("{}", number), std::move(fault));
  }
  return {};
}

void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra) {
  for (const model::ExtraField& field : extra) json.any_key(field.key).raw(field.value);
}

std::string one_line(std::string_view json) {
  // Between tokens only: inside strings JSON has no raw line ends.
  std::string out(json);
  std::ranges::replace_if(out, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

bool is_blank(std::string_view text) noexcept {
  return trimmed(text).empty();
}

}  // namespace qq::dialects::anthropic
