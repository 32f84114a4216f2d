#include "simulator/provider/aws_frame.h"

#include <fmt/format.h>
#include <zlib.h>

#include "base/base64.h"

namespace qq::simulator {
namespace {

constexpr std::uint8_t kStringHeader = 7;

void append_number(std::string& out, std::uint32_t value, unsigned bytes) {
  for (unsigned shift = bytes * 8; shift > 0; shift -= 8)
    out += static_cast<char>(value >> (shift - 8) & 0xffU);
}

void append_sum(std::string& frame) {
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(frame.data()), static_cast<uInt>(frame.size()));
  append_number(frame, static_cast<std::uint32_t>(sum), 4);
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  append_number(out, static_cast<std::uint32_t>(name.size()), 1);
  out += name;
  append_number(out, kStringHeader, 1);
  append_number(out, static_cast<std::uint32_t>(value.size()), 2);
  out += value;
}

// The rest of the line behind `field`; empty if there is none.
std::string_view line_of(std::string_view event, std::string_view field) {
  if (!event.starts_with(field)) {
    const std::string at_line = "\n" + std::string(field);
    const std::size_t found = event.find(at_line);
    if (found == std::string_view::npos) return {};
    event.remove_prefix(found + 1);
  }
  event.remove_prefix(field.size());
  return event.substr(0, event.find('\n'));
}

// Bedrock pads its events with letters, so that their sizes do not tell what is in them.
std::string_view padding_for(std::string_view payload) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return kLetters.substr(0, 1 + payload.size() * 7 % kLetters.size());
}

std::string framed(std::string_view event, StreamForm form) {
  const std::string_view data = line_of(event, "data: ");
  const std::string_view exception = line_of(event, "exception: ");
  if (!exception.empty()) return aws_frame(AwsMessage::Exception, exception, data);
  if (form == StreamForm::AwsChunks) {
    const std::string inner = to_base64(data);
    return aws_frame(AwsMessage::Event, "chunk",
                     fmt::format(R"({{"bytes":"{}","p":"{}"}})", inner, padding_for(inner)));
  }
  std::string payload(data);
  if (payload.ends_with('}')) {
    payload.pop_back();
    payload += fmt::format(R"(,"p":"{}"}})", padding_for(data));
  }
  return aws_frame(AwsMessage::Event, line_of(event, "event: "), payload);
}

}  // namespace

std::string aws_frame(AwsMessage message, std::string_view name, std::string_view payload) {
  std::string headers;
  const bool event = message == AwsMessage::Event;
  append_header(headers, event ? ":event-type" : ":exception-type", name);
  append_header(headers, ":content-type", "application/json");
  append_header(headers, ":message-type", event ? "event" : "exception");
  std::string frame;
  append_number(frame, static_cast<std::uint32_t>(16 + headers.size() + payload.size()), 4);
  append_number(frame, static_cast<std::uint32_t>(headers.size()), 4);
  append_sum(frame);
  frame += headers;
  frame += payload;
  append_sum(frame);
  return frame;
}

void frame_events(Reply& reply) {
  if (!reply.stream || (reply.form != StreamForm::AwsEvents && reply.form != StreamForm::AwsChunks)) return;
  for (Piece& piece : reply.pieces) piece.bytes = framed(piece.bytes, reply.form);
}

}  // namespace qq::simulator
