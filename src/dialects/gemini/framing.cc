#include "dialects/gemini/framing.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace qq::dialects::gemini {

bool Framing::to_object_or_line(std::string_view bytes, std::size_t& consumed) {
  constexpr std::string_view kBom = "\xef\xbb\xbf";
  while (consumed < bytes.size()) {
    const char c = bytes[consumed];
    // A BOM's bytes are nothing else in front of all.
    const bool bom = !begun_ && kBom.find(c) != std::string_view::npos;
    if (is_space(c) || bom || (array_ && c == ',')) {
      ++consumed;
    } else if (c == '[' && !begun_) {
      begun_ = array_ = true;
      ++consumed;
    } else if (c == ']' && array_) {
      array_closed_ = true;
      ++consumed;
    } else {
      begun_ = true;
      return true;
    }
  }
  return false;
}

bool Framing::take_object(std::string_view bytes, std::size_t& consumed, std::string_view& object) {
  const std::size_t begin = consumed;
  while (consumed < bytes.size()) {
    const char c = bytes[consumed++];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
      continue;
    }
    if (c == '"') in_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if ((c != '}' && c != ']') || --depth_ > 0) continue;
    const std::string_view here = bytes.substr(begin, consumed - begin);
    if (kept_.empty()) {
      object = here;
    } else {
      kept_ += here;
      object = kept_;
      reported_ = true;
    }
    return true;
  }
  kept_ += bytes.substr(begin);
  too_big_ = kept_.size() > kObjectMax;
  return false;
}

bool Framing::next(std::string_view bytes, std::size_t& consumed, std::string_view& object) {
  if (std::exchange(reported_, false)) kept_.clear();
  while (!too_big()) {
    if (depth_ == 0 && sse_.at_border()) {
      if (!to_object_or_line(bytes, consumed)) return false;
      const char first = bytes[consumed];
      if (first == '{' || array_) {
        if (first != '{') {  // no object: its one byte says so, however the rest is cut
          object = bytes.substr(consumed++, 1);
          return true;
        }
        return take_object(bytes, consumed, object);
      }
    }
    if (depth_ > 0) return take_object(bytes, consumed, object);
    if (consumed == bytes.size()) return false;
    // An event that begins here is read as far as it goes. All else one line at a time, since behind a
    // comment an object may begin.
    std::string_view rest = bytes.substr(consumed);
    if (!sse_.at_border() || rest.front() != 'd') {
      const std::size_t line = rest.find_first_of("\r\n");
      if (line != std::string_view::npos) rest = rest.substr(0, line + 1);
    }
    wire::SseEvent event;
    std::size_t taken = 0;
    const bool found = sse_.next(rest, taken, event);
    consumed += taken;
    if (found && event.has_data) {
      object = event.data;
      return true;
    }
    if (!found && taken == 0) return false;
  }
  return false;
}

bool Framing::finish(std::string_view& object) {
  wire::SseEvent event;
  if (!sse_.finish(event) || !event.has_data) return false;
  object = event.data;
  return true;
}

}  // namespace qq::dialects::gemini
