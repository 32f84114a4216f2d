#include "upstream/request_lines.h"

#include "wire/http_head.h"

namespace qq::upstream {
namespace {

// The first line of `lines`, which loses it; with its CRLF.
std::string_view take_line(std::string_view& lines) noexcept {
  const std::size_t end = lines.find("\r\n");
  const std::string_view line = lines.substr(0, end == std::string_view::npos ? end : end + 2);
  lines.remove_prefix(line.size());
  return line;
}

bool has_header(std::string_view lines, std::string_view name) noexcept {
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    if (wire::iequals(line.substr(0, line.find(':')), name)) return true;
  }
  return false;
}

}  // namespace

void append_missing_lines(std::string& out, std::string_view default_lines, std::string_view lines) {
  while (!default_lines.empty()) {
    const std::string_view line = take_line(default_lines);
    if (!has_header(lines, line.substr(0, line.find(':')))) out.append(line);
  }
}

std::string_view method_word(relay::UpstreamCall::Method method) noexcept {
  switch (method) {
    case relay::UpstreamCall::Method::Post: return "POST";
    case relay::UpstreamCall::Method::Get: return "GET";
    case relay::UpstreamCall::Method::Delete: return "DELETE";
  }
  return {};
}

std::string_view accepted(const relay::UpstreamCall& call) noexcept {
  if (call.once) return "*/*";
  switch (call.endpoint) {  // audio or a transcript, in whatever form was asked for
    case model::Endpoint::AudioSpeech:
    case model::Endpoint::AudioTranscriptions:
    case model::Endpoint::AudioTranslations:
    // A file's content is of any type, and so may be a batch's results.
    case model::Endpoint::Files:
    case model::Endpoint::Batches:
    case model::Endpoint::MessageFiles:
    case model::Endpoint::MessageBatches: return "*/*";
    default: break;
  }
  if (!call.stream) return "application/json";
  const bool frames = call.endpoint == model::Endpoint::Converse ||
                      call.target->quirks.messages_form == model::MessagesForm::BedrockInvoke;
  if (frames) return "application/vnd.amazon.eventstream";
  return call.endpoint == model::Endpoint::OllamaChat ? "application/x-ndjson" : "text/event-stream";
}

}  // namespace qq::upstream
