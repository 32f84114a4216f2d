#include "dialects/declared/framing.h"

#include <utility>

#include "base/text.h"

namespace qq::dialects::declared {

bool Framing::next_line(std::string_view bytes, std::size_t& consumed, Message& message) {
  if (std::exchange(reported_, false)) kept_.clear();
  while (!line_too_big_ && consumed < bytes.size()) {
    const std::size_t end = bytes.find('\n', consumed);
    const std::string_view piece =
        bytes.substr(consumed, end == std::string_view::npos ? end : end - consumed);
    line_too_big_ = kept_.size() + piece.size() > kLineMax;
    if (line_too_big_) return false;
    if (end == std::string_view::npos) {
      kept_ += piece;
      consumed = bytes.size();
      return false;
    }
    consumed = end + 1;
    if (kept_.empty()) {
      message.data = trimmed(piece);
    } else {
      kept_ += piece;
      message.data = trimmed(kept_);
      if (message.data.empty()) kept_.clear();
    }
    if (message.data.empty()) continue;
    reported_ = !kept_.empty();
    return true;
  }
  return false;
}

bool Framing::next(std::string_view bytes, std::size_t& consumed, Message& message) {
  message = {};
  if (lines_) return next_line(bytes, consumed, message);
  wire::SseEvent event;
  while (sse_.next(bytes, consumed, event)) {
    if (!event.has_data || trimmed(event.data).empty()) continue;
    message = {event.name, trimmed(event.data)};
    return true;
  }
  return false;
}

bool Framing::finish(Message& message) {
  message = {};
  if (lines_) {
    if (std::exchange(reported_, false)) kept_.clear();
    message.data = trimmed(kept_);
    return !message.data.empty();
  }
  wire::SseEvent event;
  if (!sse_.finish(event) || !event.has_data) return false;
  message = {event.name, trimmed(event.data)};
  return !message.data.empty();
}

}  // namespace qq::dialects::declared
