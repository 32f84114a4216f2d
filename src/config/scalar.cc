#include "config/scalar.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace qq::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};
// Largest first, so that formatting takes the first that divides.
constexpr std::array kDurationUnits{Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000}, Unit{"ms", 1}};
constexpr std::array kSizeUnits{Unit{"GiB", 1LL << 30}, Unit{"MiB", 1LL << 20}, Unit{"KiB", 1LL << 10},
                                Unit{"B", 1}};
constexpr std::array kTokenUnits{Unit{"m", 1'000'000}, Unit{"k", 1'000}, Unit{"", 1}};

// Digits and one of the units; nothing if it is spelled otherwise or does not fit.
template <std::size_t N>
std::optional<std::int64_t> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (digits == 0 || digits > 18 || (digits > 1 && text[0] == '0')) return std::nullopt;
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + digits, count);
  for (const Unit& unit : units) {
    std::int64_t product = 0;
    if (text.substr(digits) == unit.suffix && !__builtin_mul_overflow(count, unit.factor, &product))
      return product;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string format_unit(std::int64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) return fmt::format("{}{}", value / unit.factor, unit.suffix);
  }
  return fmt::format("{}{}", value, units.back().suffix);
}

// Why a text that looks like a number to some YAML reader is none here; empty if it does not look like one.
std::string number_trap(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (text.starts_with('+')) return "without the plus sign";
  if (all_digits(digits) && digits.size() > 1 && digits[0] == '0') {
    return "without leading zeros (some YAML readers take them for octal)";
  }
  if (digits.size() > 2 && digits[0] == '0' &&
      (digits[1] == 'x' || digits[1] == 'X' || digits[1] == 'o' || digits[1] == 'b')) {
    return "in decimal digits";
  }
  if (!digits.empty() && is_digit(digits[0]) && digits.find('_') != std::string_view::npos)
    return "without underscores";
  if (!digits.empty() && is_digit(digits[0]) && digits.find(',') != std::string_view::npos)
    return "without commas";
  if (!digits.empty() && is_digit(digits[0]) && digits.find_first_of("eE") != std::string_view::npos &&
      digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos) {
    return "without an exponent";
  }
  return {};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

Parsed<Milliseconds> parse_duration(std::string_view text) {
  if (const auto value = with_unit(text, kDurationUnits)) return Milliseconds(*value);
  if (all_digits(text)) return std::unexpected("a duration with its unit (ms, s, m or h), such as 3s");
  return std::unexpected("a duration such as 300ms, 3s, 15m or 1h");
}

Parsed<std::uint64_t> parse_size(std::string_view text) {
  if (const auto value = with_unit(text, kSizeUnits)) return static_cast<std::uint64_t>(*value);
  if (text == "0") return 0U;
  if (all_digits(text)) return std::unexpected("a size with its unit (B, KiB, MiB or GiB), such as 64MiB");
  const std::string_view unit = text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
  for (const std::string_view decimal :
       {"K", "M", "G", "k", "m", "g", "KB", "MB", "GB", "kB", "kb", "mb", "gb"}) {
    if (unit == decimal)
      return std::unexpected("a size in powers of 1024 (B, KiB, MiB or GiB), such as 64MiB");
  }
  return std::unexpected("a size such as 512B, 64KiB, 64MiB or 1GiB");
}

Parsed<std::int64_t> parse_tokens(std::string_view text) {
  if (const auto value = with_unit(text, kTokenUnits)) return *value;
  if (const std::string trap = number_trap(text); !trap.empty())
    return std::unexpected("a token count " + trap);
  return std::unexpected("a token count such as 8192, 128k or 1m (k = 1,000, m = 1,000,000)");
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
  if (const std::string trap = number_trap(text); !trap.empty())
    return std::unexpected("a whole number " + trap);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::unexpected("a smaller whole number");
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    return std::unexpected("a whole number");
  return value;
}

Parsed<double> parse_number(std::string_view text) {
  if (const std::string trap = number_trap(text); !trap.empty()) return std::unexpected("a number " + trap);
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const std::size_t dot = digits.find('.');
  const std::string_view whole = digits.substr(0, dot);
  const bool fraction_good = dot == std::string_view::npos || all_digits(digits.substr(dot + 1));
  const bool leading_zero = whole.size() > 1 && whole[0] == '0';
  if (!all_digits(whole) || !fraction_good || leading_zero || text.size() > 32) {
    return std::unexpected("a number such as 0.5 or 1");
  }
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::unexpected("true or false");
}

std::string format_duration(Milliseconds duration) {
  return format_unit(duration.count(), kDurationUnits);
}
std::string format_size(std::uint64_t bytes) {
  return format_unit(static_cast<std::int64_t>(bytes), kSizeUnits);
}
std::string format_tokens(std::int64_t tokens) {
  return format_unit(tokens, kTokenUnits);
}
std::string format_number(double number) {
  return fmt::format("{}", number);
}

std::string_view silent_type(std::string_view plain) {
  const std::string word = lower(plain);
  if (word.empty() || word == "~" || word == "null") return "null";
  for (const std::string_view boolean : {"yes", "no", "on", "off", "true", "false", "y", "n"}) {
    if (word == boolean) return "a boolean";
  }
  if (word == ".nan" || word == ".inf" || word == "-.inf" || word == "+.inf") return "a number";
  std::string_view digits = word;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty()) return {};
  if (digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b")) {
    const bool number =
        digits.size() > 2 && digits.find_first_not_of("0123456789abcdef_", 2) == std::string_view::npos;
    return number ? "a number" : std::string_view{};
  }
  if (!is_digit(digits[0]) && !(digits[0] == '.' && digits.size() > 1 && is_digit(digits[1]))) return {};
  // Digits, one dot, underscores, one exponent; or sexagesimal (12:30:45).
  if (digits.find_first_not_of("0123456789:_") == std::string_view::npos &&
      digits.find(':') != std::string_view::npos) {
    return "a number";
  }
  const std::size_t exponent = digits.find('e');
  const std::string_view mantissa = digits.substr(0, exponent);
  if (mantissa.find_first_not_of("0123456789._") != std::string_view::npos) return {};
  if (std::count(mantissa.begin(), mantissa.end(), '.') > 1) return {};
  if (exponent != std::string_view::npos) {
    std::string_view power = digits.substr(exponent + 1);
    if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
    if (!all_digits(power)) return {};
  }
  return "a number";
}

}  // namespace qq::config
