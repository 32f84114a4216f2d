// What becomes of a provider's stream on its way to the client: bytes in, whole events for the client out,
// and what they mean. Three ways:
//
//   sieve.h            the OpenAI dialects pass through: events are read where they lie and kept as they are
//   native_flow.h      Anthropic's and Gemini's pass through
//   translated_flow.h  into another dialect
//
// A flow stands apart from the relaying, which waits and decides (stream.cc): no coroutine, and out of line,
// so that what it needs while it works is on the stack and not in the frame of an idle stream.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/usage.h"
#include "relay/request.h"
#include "wire/json.h"

namespace qq::relay {

class EventFlow {
 public:
  virtual ~EventFlow() = default;
  EventFlow() = default;
  EventFlow(const EventFlow&) = delete;
  EventFlow& operator=(const EventFlow&) = delete;

  // What came of one step. `out` are whole events for the client, views into the bytes given and into
  // `storage`.
  struct Output {
    std::array<std::string_view, 2> out;
    std::string_view line_end;  // of a last line whose CR came without its LF, which nobody waits for
    std::string storage;
    bool line = false;           // a line has come to its end
    bool content = false;        // the first content is in `out` or came before
    bool ended = false;          // whatever follows is not the stream's
    std::optional<Error> error;  // after `out`
  };

  // The usual step: `bytes` are one event that is shaped like the one before. What of it goes out: some of
  // `pieces`; nothing if that is for `feed` to say.
  using Pieces = std::array<std::string_view, 5>;
  virtual std::span<const std::string_view> pass(std::string_view /*bytes*/, Pieces& /*pieces*/) noexcept {
    return {};
  }

  enum class BodyEnd : std::uint8_t { NotYet, Proper, Broken };
  // `end`: whether the body ends with these bytes, and how.
  virtual void feed(std::string_view bytes, BodyEnd end, Output& output) = 0;
  // The provider has said everything and keeps its body open: appends what the client's stream still lacks.
  virtual void close(std::string& /*out*/) {}

  // What the stream has said so far.
  [[nodiscard]] virtual bool content_seen() const noexcept = 0;
  [[nodiscard]] virtual bool ended() const noexcept = 0;  // by its own words
  // Something was said: white space, if no content was seen.
  [[nodiscard]] virtual bool blank_seen() const noexcept = 0;
  // An end without content that is still an answer.
  [[nodiscard]] virtual bool empty_is_legitimate() const noexcept = 0;
  // After the end of the body: nothing if the stream had ended properly.
  [[nodiscard]] virtual std::optional<ErrorKind> fault_at_end() const noexcept = 0;
  [[nodiscard]] virtual const model::Usage& usage() const noexcept = 0;
  [[nodiscard]] virtual std::string_view finish_reason() const noexcept = 0;
};

// Whether the data of a stream's last event, which has no blank line behind it, is all of it: JSON or the
// mark of the end.
inline bool is_whole_event(std::string_view data) noexcept {
  return data == "[DONE]" || !wire::check_json(data, {.check_utf8 = false});
}

// Of one attempt.
std::unique_ptr<EventFlow> make_event_flow(RequestState& state, const model::Attempt& attempt);

}  // namespace qq::relay
