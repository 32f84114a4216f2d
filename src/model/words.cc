// The words of this folder's enumerations, and media types.
#include "model/finish.h"
#include "model/part.h"

namespace qq::model {

std::string_view to_string(Dialect dialect) noexcept {
  switch (dialect) {
    case Dialect::OpenAiChat: return "openai_chat";
    case Dialect::OpenAiResponses: return "openai_responses";
    case Dialect::Anthropic: return "anthropic";
    case Dialect::Gemini: return "gemini";
    case Dialect::Bedrock: return "bedrock";
    case Dialect::Cohere: return "cohere";
    case Dialect::Ollama: return "ollama";
    case Dialect::Declared: return "declared";
  }
  return "unknown";
}

std::string_view to_string(Finish finish) noexcept {
  switch (finish) {
    case Finish::None: return "none";
    case Finish::Stop: return "stop";
    case Finish::StopString: return "stop_string";
    case Finish::Length: return "length";
    case Finish::ToolCalls: return "tool_calls";
    case Finish::Filtered: return "filtered";
    case Finish::Refusal: return "refusal";
    case Finish::Paused: return "paused";
    case Finish::Broken: return "broken";
  }
  return "unknown";
}

MediaPart::Kind media_kind(std::string_view media_type) noexcept {
  if (media_type.starts_with("image/")) return MediaPart::Kind::Image;
  if (media_type.starts_with("audio/")) return MediaPart::Kind::Audio;
  return media_type.starts_with("video/") ? MediaPart::Kind::Video : MediaPart::Kind::File;
}

}  // namespace qq::model
