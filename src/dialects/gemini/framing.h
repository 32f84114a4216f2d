// The JSON objects of a stream, however they are framed, fed bytes in pieces of any size:
//
//   data: {...}\r\n\r\n        server-sent events, with alt=sse
//   [{...}\n,\r\n{...}]        one array, without it
//   {...}                      bare: an error in the middle of events, or alone
//
// A bare object is known by its brace where an event or an element may begin; behind it either may follow.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "wire/sse.h"

namespace qq::dialects::gemini {

class Framing {
 public:
  // Like SseDecoder::next: call until it is false. `object` is one event's data or one object, not yet
  // checked, and valid until the next call.
  bool next(std::string_view bytes, std::size_t& consumed, std::string_view& object);
  // At the end: an event without its blank line.
  bool finish(std::string_view& object);

  [[nodiscard]] bool too_big() const noexcept {
    return too_big_ || sse_.verdict() != wire::SseDecoder::Verdict::Ok;
  }
  // At the end: an object or array that is not closed.
  [[nodiscard]] bool cut() const noexcept { return depth_ > 0 || (array_ && !array_closed_); }

 private:
  static constexpr std::size_t kObjectMax = 16UL * 1024 * 1024;

  // Skips what stands between objects. False when the bytes are used up.
  bool to_object_or_line(std::string_view bytes, std::size_t& consumed);
  bool take_object(std::string_view bytes, std::size_t& consumed, std::string_view& object);

  wire::SseDecoder sse_;
  std::string kept_;  // an object's beginning from earlier calls
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool reported_ = false;  // `kept_` is in use by the object reported last
  bool begun_ = false;     // past a BOM and what else may stand in front of all
  bool array_ = false;
  bool array_closed_ = false;
  bool too_big_ = false;
};

}  // namespace qq::dialects::gemini
