// Bodies of HTTP/1.1 messages, fed bytes: by length, chunked (RFC 9112 7.1; extensions dropped within
// limits, trailers dropped) or until close. The same reader serves requests and replies.
//
//   while (!reader.done()) { step = reader.feed(bytes); use step.payload; drop step.consumed; }
//
// Zero-copy: `payload` points into the bytes given. One call returns one contiguous piece, so call again
// with the rest until it consumes nothing or is done.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/http_head.h"

namespace qq::wire {

class BodyReader {
 public:
  explicit BodyReader(Framing framing = {}) noexcept;

  struct Step {
    std::string_view payload;  // may be empty although bytes were consumed
    std::size_t consumed = 0;
    const char* error = nullptr;  // a literal; the reader is dead from then on
  };
  // A step with an error carries no payload.
  Step feed(std::string_view bytes) noexcept;

  // If `bytes` are one whole chunk and nothing else, as a provider's event nearly always is: takes it and
  // gives its payload. Empty: that is for `feed` to say.
  std::string_view take_whole_chunk(std::string_view bytes) noexcept;

  // The peer closed: true if that ends the body properly (UntilClose, or already done).
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] bool done() const noexcept { return state_ == State::Done; }
  // Payload bytes of a length or of the current chunk that are still to come.
  [[nodiscard]] std::uint64_t announced_bytes() const noexcept {
    return state_ == State::Data || state_ == State::Length ? remaining_ : 0;
  }
  // Payload bytes seen so far.
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }

 private:
  enum class State : std::uint8_t {
    Length,
    UntilClose,
    Size,
    SizeSpace,
    ExtensionStart,
    Extension,
    ExtensionQuoted,
    ExtensionEscape,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Done,
    Dead
  };
  // Takes all that stands between two chunks, if it is the usual; the bytes taken.
  std::size_t take_usual_framing(std::string_view bytes) noexcept;
  // Takes one byte of chunk framing; a literal if it may not stand there.
  const char* take_framing(unsigned char byte) noexcept;
  const char* take_extension(unsigned char byte) noexcept;
  const char* take_trailer(unsigned char byte) noexcept;

  State state_;
  std::uint8_t size_digits_ = 0;
  std::uint32_t line_bytes_ = 0;      // of the extensions of the current chunk
  std::uint32_t overhead_bytes_ = 0;  // extensions and trailers altogether
  std::uint64_t remaining_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

// The chunk-size line of a chunk of `size` bytes, CRLF included, written into `out` (at least 18 bytes).
std::string_view chunk_header(std::size_t size, char* out) noexcept;
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace qq::wire
