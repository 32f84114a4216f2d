// The shape that the content events of one stream share, so that most of them need no parsing.
//
// Within a stream, one delta differs from the next in few places: the text, a padding string, a counter. A
// shape is the bytes of an event that was read in full, with holes at these places. An event that equals it
// outside the holes, and has a valid JSON string (or integer) in each, has the same structure by
// construction, hence the same facts, but for what the holes say. Anything else is no match and is read in
// full.
//
// Matching costs one comparison and one scan of the texts: a sixth of reading the event.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::dialects::openai {

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
  void learn_chunk(std::string_view data, bool is_completion, wire::JsonValue model,
                   wire::JsonValue usage_null);
  void learn_delta(std::string_view data, HoleKind delta_kind);

  struct Match {
    bool content = false;
    wire::JsonValue model;
    wire::JsonValue usage_null;
  };
  [[nodiscard]] std::optional<Match> match(std::string_view data) noexcept;

 private:
  struct Hole {
    std::uint32_t at = 0;  // in shape_
    HoleKind kind = HoleKind::Padding;
  };
  // A value outside the holes that the facts point at.
  struct Mark {
    std::uint32_t at = 0;  // in shape_
    std::uint32_t size = 0;
  };
  class Builder;

  static constexpr std::size_t kHolesMax = 6;
  static constexpr std::size_t kShapeMax = 4096;
  // A provider whose events never look alike (a new id in each) is not worth more tries.
  static constexpr std::uint8_t kTriesMax = 4;

  [[nodiscard]] bool may_learn() const noexcept { return tries_ < kTriesMax; }

  std::string shape_;
  std::array<Hole, kHolesMax> holes_{};
  std::uint8_t holes_count_ = 0;
  std::uint8_t tries_ = 0;       // since the last match
  bool always_content_ = false;  // something outside the holes counts: a call's name
  Mark model_;
  Mark usage_null_;
};

}  // namespace qq::dialects::openai
