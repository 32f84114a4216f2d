// Scalars as this configuration spells them, and the traps of YAML's implicit types refused by name.
//
//   durations  300ms  3s  15m  1h     (whole numbers, one unit)
//   sizes      512B   64KiB  64MiB  1GiB
//   tokens     128k   1m  131072      (k = 1,000, m = 1,000,000)
//   integers   120                    (no 010, 0x10, 1_000, 1e3, +1)
//   numbers    0.5    1
//   booleans   true   false
//
// A parse error is the half of a sentence that follows "expected …": it never holds the value itself.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/time.h"
#include "config/diagnostic.h"

namespace qq::config {

struct Scalar {
  std::string text;           // after expansion
  bool plain = true;          // written without quotes
  bool from_outside = false;  // holds a variable's or file's content
  Mark mark;
};

template <typename T>
using Parsed = std::expected<T, std::string>;

Parsed<Milliseconds> parse_duration(std::string_view text);
Parsed<std::uint64_t> parse_size(std::string_view text);
Parsed<std::int64_t> parse_tokens(std::string_view text);
Parsed<std::int64_t> parse_integer(std::string_view text);
Parsed<double> parse_number(std::string_view text);
Parsed<bool> parse_boolean(std::string_view text);

// The shortest exact spelling.
std::string format_duration(Milliseconds duration);
std::string format_size(std::uint64_t bytes);
std::string format_tokens(std::int64_t tokens);
std::string format_number(double number);

// What YAML readers make of a plain scalar other than text: "a boolean", "a number", "null"; empty if they
// leave it alone. YAML 1.1's yes/no/on/off, octal, sexagesimal and 1_000 count, since older readers obey
// them.
std::string_view silent_type(std::string_view plain);

}  // namespace qq::config
