// The shape that the content events of one stream share, so that most of them need no parsing.
//
// Within a stream, one delta differs from the next in few places: the text, a padding string, a counter. A
// shape is the bytes of an event that was read in full, with holes at these places. An event that equals it
// outside the holes, and has a valid JSON string (or integer) in each, has the same structure by
// construction, hence the same facts, but for what the holes say. Anything else is no match and is read in
// full.
//
// Matching costs one comparison and one scan of the texts: a sixth of reading the event. The framing is part
// of the shape, so that most events need no decoding either: no text in a hole holds a line end, so bytes
// that match are one event with one line of data, wherever an event may begin.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::dialects::openai {

// The facts of an event that is content or nothing.
struct DeltaFacts {
  bool content = false;              // text, reasoning, refusal or tool delta that is not empty: commits
  wire::JsonValue model_value;       // `model` in this event, empty text if absent
  wire::JsonValue usage_null_value;  // the value of a `usage:null` member of a chunk, empty text if absent
};

// What stands around an event's one line of data on the wire.
struct Framing {
  std::string_view before;  // "data: ", perhaps with an `event:` line in front
  std::string_view behind;  // two line ends; empty: the framing is not known
};
// Of an event whose decoded data is `data`, a view into `raw`. Nothing but what reads the same behind every
// other event is taken for known.
Framing framing_of(std::string_view raw, std::string_view data) noexcept;

class ChunkShape {
 public:
  enum class HoleKind : std::uint8_t {
    Prose,    // a text that counts when it is more than white space
    Filled,   // a text that counts when it is not empty
    Padding,  // a text that never counts
    Integer,
  };

  // Takes the shape of a chat or completions chunk, or of a responses delta event, that was judged to be
  // content and nothing else. `data` is a checked object. Nothing is taken when content may stand elsewhere
  // than in holes.
  void learn_chunk(std::string_view data, const Framing& framing, bool is_completion,
                   const DeltaFacts& facts);
  void learn_delta(std::string_view data, const Framing& framing, HoleKind delta_kind);

  // Whether `data` has this shape; fills `found`, which means something only then.
  [[nodiscard]] bool match(std::string_view data, DeltaFacts& found) noexcept;
  // The same for the bytes on the wire that an event starts with: the bytes of the event, 0 if it does not
  // match. `data` becomes its data.
  [[nodiscard]] std::size_t match_framed(std::string_view bytes, std::string_view& data,
                                         DeltaFacts& found) noexcept;
  // A shape without framing is worth being learned anew with it.
  [[nodiscard]] bool framed() const noexcept { return behind_ != 0; }

 private:
  struct Hole {
    std::uint16_t at = 0;   // in shape_
    std::uint8_t size = 0;  // of an integer: the digits it had last, which stay in shape_
    HoleKind kind = HoleKind::Padding;
  };
  // A value outside the holes that the facts point at.
  struct Mark {
    std::uint16_t at = 0;  // in shape_
    std::uint16_t size = 0;
  };
  class Builder;
  class Walk;

  static constexpr std::size_t kHolesMax = 6;
  static constexpr std::size_t kShapeMax = 4096;
  // A provider whose events never look alike (a new id in each) is not worth more tries.
  static constexpr std::uint8_t kTriesMax = 4;

  [[nodiscard]] bool may_learn() const noexcept { return tries_ < kTriesMax; }
  // Goes from `at` along the shape's bytes [from, to): the place behind, or nullptr.
  const char* walk(const char* at, const char* end, std::size_t from, std::size_t to,
                   DeltaFacts& found) noexcept;

  std::string shape_;  // with the framing around it
  std::array<Hole, kHolesMax> holes_{};
  std::uint16_t marks_begin_ = 0;  // where the first mark begins and the last one ends
  std::uint16_t marks_end_ = 0;
  Mark model_;
  Mark usage_null_;
  std::uint16_t before_ = 0;  // bytes of shape_ in front of the data
  std::uint8_t behind_ = 0;   // and behind it
  std::uint8_t holes_count_ = 0;
  std::uint8_t tries_ = 0;       // since the last match
  bool always_content_ = false;  // something outside the holes counts: a call's name
};

}  // namespace qq::dialects::openai
