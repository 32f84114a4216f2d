// One log line: a flat JSON object of at most 4 KiB, in a buffer that is used again for the next line.
//
// Whatever a stranger put into a value, the line stays one line of valid JSON and valid UTF-8: control
// characters (ESC, CR and LF among them), C1 controls, line separators and bidirectional overrides are
// escaped, bytes that are not UTF-8 become U+FFFD. A value is cut to 256 bytes (1024 in a life-cycle line); a
// field for which the line has no room is left out whole. After either the line ends with "truncated":true.
#pragma once
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace qq::telemetry {

class JsonLine {
 public:
  static constexpr std::size_t kLineMax = 4096;  // the newline included
  static constexpr std::size_t kValueMax = 256;  // of a text, before escaping
  static constexpr std::size_t kEventValueMax = 1024;

  // Starts an object; what was there is gone.
  void begin() noexcept;

  // Names are literals of ours and are not escaped. Part of each caller, where a name's length is known, so
  // that copying it is a store or two.
  [[gnu::always_inline]] void text(std::string_view name, std::string_view value) noexcept {
    if (value.size() > kValueMax || room() < name.size() + kEscapeMax * value.size() + 8) {
      return narrow_text(name, value, kValueMax);
    }
    if (start_field(name, 0)) put_text(value);
  }
  // The same, with what looks like a credential masked (providers/masking.h); for messages that others may
  // have had a hand in. Slower than text().
  void redacted_text(std::string_view name, std::string_view value, std::size_t max = kValueMax) noexcept;
  void boolean(std::string_view name, bool value) noexcept {
    if (start_field(name, 5)) put(value ? std::string_view("true") : std::string_view("false"));
  }
  void integer(std::string_view name, std::int64_t value) noexcept {
    if (start_field(name, 20)) put_integer(value);
  }
  // As milliseconds with three decimals.
  void milliseconds(std::string_view name, std::chrono::nanoseconds value) noexcept {
    if (start_field(name, 24)) put_milliseconds(value);
  }

  // A nested object: `begin_list`, then per element `begin_element`, fields, `end_element`, then `end_list`.
  // An element that does not fit is dropped whole.
  void begin_list(std::string_view name) noexcept;
  void begin_element() noexcept;
  void end_element() noexcept;
  void end_list() noexcept;

  // Closes the object. The view ends with a newline and is good until the next begin().
  [[nodiscard]] std::string_view finish() noexcept;

 private:
  static constexpr std::size_t kTail = 24;  // room for: ]},"truncated":true}\n

  [[nodiscard]] std::size_t room() const noexcept {
    return length_ < kLineMax - kTail ? kLineMax - kTail - length_ : 0;
  }
  static constexpr std::size_t kEscapeMax = 6;  // \u00XX; no other form is longer for one byte of input

  // Part of each caller: names are literals, so copying one is a store or two.
  [[gnu::always_inline]] bool start_field(std::string_view name, std::size_t value_bytes) noexcept {
    if (element_full_ || room() < name.size() + value_bytes + 8) return no_room();
    char* out = buffer_.data() + length_;
    *out = ',';
    out += first_ ? 0 : 1;
    first_ = false;
    *out++ = '"';
    std::memcpy(out, name.data(), name.size());
    out += name.size();
    *out++ = '"';
    *out++ = ':';
    length_ = static_cast<std::size_t>(out - buffer_.data());
    return true;
  }
  bool no_room() noexcept;  // false
  void put(char c) noexcept { buffer_[length_++] = c; }
  void put(std::string_view text) noexcept {
    std::memcpy(buffer_.data() + length_, text.data(), text.size());
    length_ += text.size();
  }
  void put_number(std::uint64_t value) noexcept;
  void put_integer(std::int64_t value) noexcept;
  void put_milliseconds(std::chrono::nanoseconds value) noexcept;
  // There is room for it, escaped or not.
  void put_text(std::string_view value) noexcept;
  // A text that is long, or near the end of the line.
  void narrow_text(std::string_view name, std::string_view value, std::size_t max) noexcept;

  std::array<char, kLineMax> buffer_{};
  std::size_t length_ = 0;
  std::size_t element_start_ = 0;
  bool first_ = true;
  bool list_empty_ = true;
  bool element_full_ = false;
  bool in_element_ = false;
  bool in_list_ = false;
  bool truncated_ = false;
};

}  // namespace qq::telemetry
