// The messages of a stream, fed bytes in pieces of any size: SSE events, or lines of JSON. Empty lines and
// events without data are none.
#pragma once
#include <string>
#include <string_view>

#include "model/declared_adapter.h"
#include "wire/sse.h"

namespace qq::dialects::declared {

class Framing {
 public:
  explicit Framing(model::DeclaredStream::Format format) noexcept
      : lines_(format == model::DeclaredStream::Format::Ndjson) {}

  struct Message {
    std::string_view name;  // SSE: the event's
    std::string_view data;  // without white space around it, never empty
  };
  // Call until it is false. Views are valid until the next call.
  bool next(std::string_view bytes, std::size_t& consumed, Message& message);
  // The body ended: a message without its end.
  bool finish(Message& message);
  [[nodiscard]] bool too_big() const noexcept {
    return line_too_big_ || sse_.verdict() != wire::SseDecoder::Verdict::Ok;
  }

 private:
  static constexpr std::size_t kLineMax = 16UL * 1024 * 1024;
  bool next_line(std::string_view bytes, std::size_t& consumed, Message& message);

  bool lines_;
  wire::SseDecoder sse_;
  std::string kept_;  // a line's beginning from earlier calls
  bool reported_ = false;
  bool line_too_big_ = false;
};

}  // namespace qq::dialects::declared
