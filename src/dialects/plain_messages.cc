#include "dialects/plain_messages.h"

#include "base/base64.h"
#include "dialects/media.h"
#include "wire/json.h"

namespace qq::dialects {

using model::MediaPart;
using model::Part;

SplitTurn split_user_turn(const model::Turn& turn) {
  SplitTurn out;
  std::vector<const Part*> said;
  for (const Part& part : turn.parts) {
    if (const auto* result = part.as<model::ToolResultPart>()) {
      out.results.push_back(result);
      for (const Part& inner : result->content) {
        if (inner.as<MediaPart>() == nullptr) continue;
        out.rest.push_back(&inner);
        out.moved_media = true;
      }
    } else if (part.as<model::OpaquePart>() == nullptr) {
      said.push_back(&part);
    }
  }
  out.rest.insert(out.rest.end(), said.begin(), said.end());
  return out;
}

std::optional<std::string> text_of_opaque(const Part& part) {
  const auto* opaque = part.as<model::OpaquePart>();
  if (opaque == nullptr || opaque->dialect != model::Dialect::Anthropic || opaque->type != "search_result")
    return std::nullopt;
  const wire::JsonValue found(opaque->value);
  std::string out;
  for (const std::string_view key : {"title", "source"}) {
    const auto value = found.member(key);
    if (value && value->is_string()) out.append(value->string()).append("\n");
  }
  const auto content = found.member("content");
  for (wire::JsonElements each(content.value_or(wire::JsonValue())); each.next();) {
    const auto text = each.value().member("text");
    if (text && text->is_string()) out.append(text->string()).append("\n");
  }
  if (out.empty()) return std::nullopt;
  out.pop_back();
  return out;
}

std::string text_of_result(const model::ToolResultPart& result) {
  std::string out;
  bool has_media = false;
  for (const Part& part : result.content) {
    has_media |= part.as<MediaPart>() != nullptr;
    const auto add = [&out](std::string_view words) { out.append(out.empty() ? "" : "\n").append(words); };
    if (const auto* text = part.as<model::TextPart>()) add(text->text);
    if (const auto words = text_of_opaque(part)) add(*words);
  }
  if (out.empty() && has_media) out = "(see the next message)";
  return out;
}

std::optional<std::string> file_as_text(const MediaPart& media) {
  std::optional<std::string> text;
  if (media.source == MediaPart::Source::Text) text = media.data;
  if (media.source == MediaPart::Source::Base64 && is_text_file(media)) text = from_base64(media.data);
  if (text && !media.name.empty()) text->insert(0, media.name + ":\n");
  return text;
}

Spoken spoken_from(const std::vector<model::Turn>& turns, std::size_t& turn) {
  Spoken out;
  for (; turn < turns.size() && turns[turn].role == model::Role::Assistant; ++turn) {
    for (const Part& part : turns[turn].parts) {
      if (const auto* text = part.as<model::TextPart>()) {
        out.text += text->text;
      } else if (const auto* refusal = part.as<model::RefusalPart>()) {
        out.text += refusal->text;
      } else if (const auto* thought = part.as<model::ReasoningPart>()) {
        out.thoughts += thought->text;
        out.thought_parts.push_back(&part);
      } else if (const auto* call = part.as<model::ToolCallPart>()) {
        out.calls.push_back(call);
      } else if (part.as<MediaPart>() != nullptr) {
        out.has_media = true;
      }
    }
  }
  return out;
}

}  // namespace qq::dialects
