#include "relay/token_estimate.h"

namespace qq::relay {
namespace {

constexpr model::TokenCount kTurn = 4;
constexpr model::TokenCount kTool = 8;
constexpr model::TokenCount kImage = 765;

// A token in quarters, by the first byte of a UTF-8 character.
constexpr std::size_t quarters_of(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first < 0xC0) return 0;  // inside a character
  return first < 0xE0 ? 2 : 4;
}

model::TokenCount estimate(const model::Part& part);

model::TokenCount estimate(const model::MediaPart& media) {
  if (media.kind == model::MediaPart::Kind::Image) return kImage;
  return media.source == model::MediaPart::Source::Text ? estimated_tokens(media.data) : 0;
}

model::TokenCount estimate(const model::ToolResultPart& result) {
  model::TokenCount sum = 0;
  for (const model::Part& part : result.content) sum += estimate(part);
  return sum;
}

model::TokenCount estimate(const model::Part& part) {
  if (const auto* text = part.as<model::TextPart>()) return estimated_tokens(text->text);
  if (const auto* media = part.as<model::MediaPart>()) return estimate(*media);
  if (const auto* call = part.as<model::ToolCallPart>()) {
    return estimated_tokens(call->name) + estimated_tokens(call->arguments);
  }
  if (const auto* result = part.as<model::ToolResultPart>()) return estimate(*result);
  if (const auto* reasoning = part.as<model::ReasoningPart>()) return estimated_tokens(reasoning->text);
  if (const auto* refusal = part.as<model::RefusalPart>()) return estimated_tokens(refusal->text);
  if (const auto* opaque = part.as<model::OpaquePart>()) return estimated_tokens(opaque->value);
  return 0;
}

}  // namespace

model::TokenCount estimated_tokens(std::string_view text) noexcept {
  std::size_t quarters = 0;
  for (const char c : text) quarters += quarters_of(static_cast<unsigned char>(c));
  return static_cast<model::TokenCount>((quarters + 3) / 4);
}

model::TokenCount estimated_tokens(const model::ChatRequest& request) {
  model::TokenCount sum = 0;
  for (const model::Turn& turn : request.turns) {
    sum += kTurn;
    for (const model::Part& part : turn.parts) sum += estimate(part);
  }
  for (const model::Tool& tool : request.tools) {
    sum += kTool + estimated_tokens(tool.name) + estimated_tokens(tool.description) +
           estimated_tokens(tool.schema);
  }
  return sum;
}

}  // namespace qq::relay
