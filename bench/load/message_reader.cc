#include "load/message_reader.h"

#include <strings.h>

#include <charconv>
#include <limits>

namespace qq::bench {
namespace {

constexpr std::size_t kHeadMax = 64 * 1024;

// The value of `line` if it is the field `name`, else nothing.
bool field_is(std::string_view line, std::string_view name, std::string_view& value) {
  if (line.size() <= name.size() || line[name.size()] != ':') return false;
  if (strncasecmp(line.data(), name.data(), name.size()) != 0) return false;
  value = line.substr(name.size() + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return true;
}

bool parse_number(std::string_view text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end != text.data();
}

}  // namespace

void MessageReader::reset() {
  state_ = State::Head;
  framing_ = Framing::Length;
  chunk_ = Chunk::Size;
  remaining_ = 0;
  status_ = 0;
  keep_alive_ = true;
  held_.clear();
}

void MessageReader::end_of_stream() {
  keep_alive_ = false;
  state_ = state_ == State::Body && framing_ == Framing::UntilClose ? State::Done : State::Broken;
}

std::size_t MessageReader::feed_head(std::string_view bytes) {
  if (held_.empty()) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end != std::string_view::npos) {
      parse_head(bytes.substr(0, end));
      return end + 4;
    }
  }
  const std::size_t before = held_.size();
  held_.append(bytes.substr(0, kHeadMax));
  const std::size_t end = held_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == std::string::npos) {
    if (held_.size() >= kHeadMax) state_ = State::Broken;
    return bytes.size();
  }
  const std::string head = held_.substr(0, end);
  held_.clear();
  parse_head(head);
  return end + 4 - before;
}

void MessageReader::parse_head(std::string_view head) {
  if (kind_ == Kind::Answer) {
    std::uint64_t status = 0;
    if (!head.starts_with("HTTP/1.") ||
        !parse_number(head.substr(std::string_view("HTTP/1.x ").size()), 10, status)) {
      state_ = State::Broken;
      return;
    }
    status_ = static_cast<int>(status);
    if (status_ == 100) return;  // an interim answer: the real head follows
    framing_ = Framing::UntilClose;
  }
  std::size_t at = head.find('\n');
  while (at != std::string_view::npos) {
    const std::size_t next = head.find('\n', at + 1);
    parse_field(head.substr(at + 1, next == std::string_view::npos ? next : next - at - 2));
    at = next;
  }
  if (framing_ == Framing::UntilClose) remaining_ = std::numeric_limits<std::uint64_t>::max();
  const bool empty = framing_ == Framing::Length && remaining_ == 0;
  if (state_ != State::Broken) state_ = empty ? State::Done : State::Body;
}

void MessageReader::parse_field(std::string_view line) {
  std::string_view value;
  if (field_is(line, "content-length", value)) {
    framing_ = Framing::Length;
    if (!parse_number(value, 10, remaining_)) state_ = State::Broken;
  } else if (field_is(line, "transfer-encoding", value)) {
    framing_ = Framing::Chunked;
  } else if (field_is(line, "connection", value)) {
    keep_alive_ = strncasecmp(value.data(), "close", 5) != 0;
  }
}

std::size_t MessageReader::feed_chunk_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) {
    held_.append(bytes);
    if (held_.size() > kHeadMax) state_ = State::Broken;
    return bytes.size();
  }
  if (held_.empty()) {
    end_chunk_line(bytes.substr(0, end));
  } else {
    held_.append(bytes.substr(0, end));
    end_chunk_line(held_);
    held_.clear();
  }
  return end + 1;
}

void MessageReader::end_chunk_line(std::string_view line) {
  const bool blank = line.empty() || line == "\r";
  switch (chunk_) {
    case Chunk::Size:
      if (!parse_number(line, 16, remaining_)) {
        state_ = State::Broken;
      } else {
        chunk_ = remaining_ == 0 ? Chunk::Trailer : Chunk::AfterData;
      }
      return;
    case Chunk::AfterData:
      chunk_ = Chunk::Size;
      if (!blank) state_ = State::Broken;
      return;
    case Chunk::Trailer:
      if (blank) state_ = State::Done;
      return;
  }
}

}  // namespace qq::bench
