#include "dialects/body_size.h"

namespace qq::dialects {
namespace {

using model::Part;

// What is said is most of a body.
std::size_t size_of(const std::vector<Part>& parts) {
  std::size_t bytes = 0;
  for (const Part& part : parts) {
    bytes += 96;
    if (const auto* text = part.as<model::TextPart>()) bytes += text->text.size() + text->text.size() / 16;
    if (const auto* media = part.as<model::MediaPart>()) bytes += media->data.size();
    if (const auto* call = part.as<model::ToolCallPart>()) bytes += call->arguments.size();
    if (const auto* opaque = part.as<model::OpaquePart>()) bytes += opaque->value.size();
    if (const auto* thought = part.as<model::ReasoningPart>())
      bytes += thought->text.size() + part.state.data.size();
    if (const auto* result = part.as<model::ToolResultPart>()) bytes += size_of(result->content);
  }
  return bytes;
}

}  // namespace

std::size_t body_size_hint(const model::ChatRequest& request) {
  std::size_t bytes = 1024;
  for (const model::Tool& tool : request.tools) bytes += 128 + tool.description.size() + tool.schema.size();
  for (const model::Turn& turn : request.turns) bytes += size_of(turn.parts);
  return bytes;
}

}  // namespace qq::dialects
