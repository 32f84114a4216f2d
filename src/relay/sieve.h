// The judging of one stream: bytes in, bytes for the client out. It stands apart from the relaying, which
// waits and decides: no coroutine, and out of line, so that what it needs while it works is on the stack and
// not in the frame of an idle stream.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dialects/openai/event_edit.h"
#include "dialects/openai/stream.h"
#include "relay/request.h"
#include "wire/sse.h"

namespace qq::relay {

class Sieve {
 public:
  Sieve(const Sieve&) = delete;
  Sieve& operator=(const Sieve&) = delete;
  Sieve(const RequestState& state, const model::Target& target);

  // What came of one step. `out` are whole events for the client, views into the bytes given and into
  // `storage`.
  struct Output {
    std::array<std::string_view, 2> out;
    std::string_view line_end;  // of a last line whose CR came without its LF, which nobody waits for
    std::string storage;
    bool line = false;           // a line has come to its end
    bool content = false;        // the first content is in `out` or came before
    bool ended = false;          // [DONE]: whatever follows is not the stream's
    std::optional<Error> error;  // after `out`
  };

  // The usual step: `bytes` are one event that is shaped like the one before. What of it goes out: some of
  // `pieces`; nothing if that is for `feed` to say.
  std::span<const std::string_view> pass(std::string_view bytes,
                                         dialects::openai::EventPieces& pieces) noexcept;

  enum class BodyEnd : std::uint8_t { NotYet, Proper, Broken };
  // `end`: whether the body ends with these bytes, and how.
  void feed(std::string_view bytes, BodyEnd end, Output& output);

  [[nodiscard]] const dialects::openai::StreamJudge& judge() const noexcept { return judge_; }

 private:
  // The next event of `bytes` behind `consumed`, judged.
  bool next(std::string_view bytes, std::size_t& consumed, wire::SseEvent& event,
            dialects::openai::EventFacts& facts);

  // What `pass` needs comes first.
  std::size_t may_pass_ = 0;  // the decoder's word, 0 while there is a tail
  bool edits_alike_ = false;  // whether events of this shape may have to be edited
  dialects::openai::StreamJudge judge_;
  std::string tail_;  // raw bytes of an unfinished event
  wire::SseDecoder decoder_;
  dialects::openai::EventRules rules_;
  std::string model_json_;  // of the name that is put back
};

}  // namespace qq::relay
