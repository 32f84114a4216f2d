// Follows a JSON document that passes by in pieces and that nobody keeps: how deep it is, and whether it has
// come to its end. So a document that was cut is told from a whole one.
//
// Less strict than `check_json`: brackets pair up, strings end and hold no control bytes, outside of them
// stand only bytes that JSON has there, and behind the end only white space. The order of keys, values and
// commas and the inside of numbers and words are not looked at. Whatever `check_json` accepts is accepted, if
// it is an object or array.
#pragma once
#include <bitset>
#include <cstddef>
#include <string_view>

#include "wire/json.h"

namespace qq::wire {

class JsonProgress {
 public:
  // False once the bytes cannot belong to one document; the rest need not be fed then.
  [[nodiscard]] bool feed(std::string_view bytes) noexcept;
  // Some of the document has come.
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  // The document has ended; only white space may follow.
  [[nodiscard]] bool complete() const noexcept { return begun_ && depth_ == 0; }

 private:
  static constexpr std::size_t kDepthMax = JsonLimits{}.depth_max;

  // Takes one byte outside of strings that is not simply passed over.
  bool take_mark(char mark) noexcept;

  std::bitset<kDepthMax> is_object_;  // the containers that are open, from the outermost
  std::size_t depth_ = 0;
  bool begun_ = false;
  bool in_string_ = false;
  bool escaped_ = false;  // the last byte was a backslash that escapes the next
};

}  // namespace qq::wire
