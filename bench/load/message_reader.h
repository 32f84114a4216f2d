// Finds the borders of HTTP/1.1 messages that arrive in pieces: requests at the mock, answers at the
// load generator. It is lenient on purpose (the strict reader is the product's own, in wire/): what
// matters here is that it costs well under a microsecond and shares no code with what it measures.
//
//   Head --blank line--> Body --length, last chunk or close--> Done       anything odd --> Broken
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::bench {

class MessageReader {
 public:
  enum class Kind { Request, Answer };
  enum class State { Head, Body, Done, Broken };

  explicit MessageReader(Kind kind) : kind_(kind) {}

  // Consumes bytes up to the end of one message and returns how many. `sink` gets the body's bytes
  // without their chunk framing. After Done or Broken nothing is consumed until `reset`.
  template <typename Sink>
  std::size_t feed(std::string_view bytes, Sink&& sink) {
    std::size_t used = 0;
    if (state_ == State::Head) used = feed_head(bytes);
    while (state_ == State::Body && used < bytes.size()) {
      const std::string_view rest = bytes.substr(used);
      if (remaining_ > 0) {
        const std::string_view part = rest.substr(0, remaining_);
        sink(part);
        used += part.size();
        remaining_ -= part.size();
        if (remaining_ == 0 && framing_ == Framing::Length) state_ = State::Done;
      } else {
        used += feed_chunk_line(rest);
      }
    }
    return used;
  }

  // The peer closed. An answer without a length ends here; any other message is cut short.
  void end_of_stream();
  void reset();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool started() const { return state_ != State::Head || !held_.empty(); }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }

 private:
  enum class Framing { Length, Chunked, UntilClose };

  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_chunk_line(std::string_view bytes);
  void parse_head(std::string_view head);
  void parse_field(std::string_view line);
  void end_chunk_line(std::string_view line);

  Kind kind_;
  State state_ = State::Head;
  Framing framing_ = Framing::Length;
  enum class Chunk { Size, AfterData, Trailer } chunk_ = Chunk::Size;
  std::uint64_t remaining_ = 0;
  int status_ = 0;
  bool keep_alive_ = true;
  std::string held_;  // an incomplete head or chunk line
};

}  // namespace qq::bench
