#include "dialects/plain_messages.h"

#include "base/base64.h"

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

std::string text_of_result(const model::ToolResultPart& result) {
  std::string out;
  bool has_media = false;
  for (const Part& part : result.content) {
    has_media |= part.as<MediaPart>() != nullptr;
    const auto* text = part.as<model::TextPart>();
    if (text == nullptr) continue;
    if (!out.empty()) out += '\n';
    out += text->text;
  }
  if (out.empty() && has_media) out = "(see the next message)";
  return out;
}

std::optional<std::string> file_as_text(const MediaPart& media) {
  std::optional<std::string> text;
  if (media.source == MediaPart::Source::Text) text = media.data;
  if (media.source == MediaPart::Source::Base64 && media.media_type.starts_with("text/"))
    text = from_base64(media.data);
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
