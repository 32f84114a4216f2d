#include "simulator/provider/stream_cut.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/base64.h"

namespace qq::simulator {
namespace {

// Words that tell what an event is, in the order in which they are looked for. Inside strings their quotes
// would be escaped.
struct KindWord {
  std::string_view word;
  PieceKind kind;
};
constexpr auto kEventWords = std::to_array<KindWord>({
    {"data: [DONE]", PieceKind::Done},
    {"data:[DONE]", PieceKind::Done},
    {"\"type\":\"message_stop\"", PieceKind::Done},
    {"event: response.completed", PieceKind::Finish},
    {"event: response.incomplete", PieceKind::Finish},
    {"event: response.failed", PieceKind::Finish},
    {"\"finish_reason\":\"", PieceKind::Finish},
    {"\"finish_reason\": \"", PieceKind::Finish},
    {"\"finishReason\":", PieceKind::Finish},
    {"\"type\":\"message_delta\"", PieceKind::Finish},
    {"\"done\":true", PieceKind::Finish},
    {"event: messageStop", PieceKind::Finish},
    {"event: metadata", PieceKind::Usage},
    {"\"type\":\"content_block_start\"", PieceKind::Other},
    {"\"type\":\"content-start\"", PieceKind::Other},
    {"event: contentBlockStart", PieceKind::Other},
    {"event: contentBlockDelta", PieceKind::Content},
    {".delta\"", PieceKind::Content},
    {"-delta\"", PieceKind::Content},
    {"\"type\":\"content_block_delta\"", PieceKind::Content},
    {"\"type\":\"tool-call-start\"", PieceKind::Content},
    {"\"content\":\"", PieceKind::Content},
    {"\"tool_calls\":[", PieceKind::Content},
    {"\"text\":\"", PieceKind::Content},
    {"\"text\": \"", PieceKind::Content},
    {"\"functionCall\":", PieceKind::Content},
});

PieceKind kind_of_text(std::string_view event) noexcept {
  const auto has = [&](std::string_view text) { return event.find(text) != std::string_view::npos; };
  if (has("\"choices\":[]") && has("\"usage\":{")) return PieceKind::Usage;
  for (const KindWord& each : kEventWords) {
    if (has(each.word)) return each.kind;
  }
  return PieceKind::Other;
}

// A frame's event type is one of its headers, as text; a chunk's is in its payload.
PieceKind kind_of_frame(std::string_view frame) {
  const auto has = [&](std::string_view text) { return frame.find(text) != std::string_view::npos; };
  if (has("contentBlockDelta")) return PieceKind::Content;
  if (has("messageStop")) return PieceKind::Finish;
  if (has("\"metrics\":")) return PieceKind::Usage;
  constexpr std::string_view kBytes = "\"bytes\":\"";
  const std::size_t begin = frame.find(kBytes);
  if (begin == std::string_view::npos) return PieceKind::Other;
  const std::string_view rest = frame.substr(begin + kBytes.size());
  const auto inner = from_base64(rest.substr(0, rest.find('"')));
  return inner ? kind_of_text(*inner) : PieceKind::Other;
}

// Where the first event of `text` ends, behind its blank line; npos if no blank line comes.
std::size_t event_end(std::string_view text) noexcept {
  bool at_line_start = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\n' && text[i] != '\r') {
      at_line_start = false;
      ++i;
      continue;
    }
    i += text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n' ? 2 : 1;
    if (at_line_start) return i;
    at_line_start = true;
  }
  return std::string_view::npos;
}

std::size_t line_end(std::string_view text) noexcept {
  const std::size_t at = text.find('\n');
  return at == std::string_view::npos ? at : at + 1;
}

std::size_t frame_end(std::string_view text) noexcept {
  if (text.size() < 4) return std::string_view::npos;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size = size << 8U | static_cast<unsigned char>(text[i]);
  return size == 0 ? std::string_view::npos : size;
}

// Behind the next element of the array; `depth` is that of the place where `text` begins.
std::size_t element_end(std::string_view text, std::size_t& depth) noexcept {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (in_string && byte == '\\') {
      ++i;
    } else if (byte == '"') {
      in_string = !in_string;
    } else if (!in_string && (byte == '{' || byte == '[')) {
      ++depth;
    } else if (!in_string && (byte == '}' || byte == ']')) {
      if (depth > 0) --depth;
      if (depth == 1) return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<Piece> cut_stream(std::string_view body, StreamForm form) {
  std::vector<Piece> pieces;
  std::size_t depth = 0;
  while (!body.empty()) {
    std::size_t end = std::string_view::npos;
    switch (form) {
      case StreamForm::Lines: end = line_end(body); break;
      case StreamForm::AwsFrames: end = frame_end(body); break;
      case StreamForm::JsonArray: end = element_end(body, depth); break;
      default: end = event_end(body); break;
    }
    const std::string_view event = body.substr(0, end);
    PieceKind kind = form == StreamForm::AwsFrames ? kind_of_frame(event) : kind_of_text(event);
    if (form == StreamForm::JsonArray && end == std::string_view::npos && !pieces.empty())
      kind = PieceKind::Done;  // the bracket
    pieces.push_back({std::string(event), kind});
    body.remove_prefix(event.size());
  }
  return pieces;
}

}  // namespace qq::simulator
