// How long a provider asks to be left alone: Retry-After (RFC 9110 10.2.3) in all the forms that were seen,
// retry-after-ms (OpenAI, Azure), and Google's RetryInfo in the body.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "providers/upstream_error.h"
#include "wire/json.h"

namespace qq::providers {
namespace {

constexpr Milliseconds kMax = std::chrono::hours(24);

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// A non-negative decimal in units of `unit` milliseconds, rounded up, cut to a day. "1", "0.5", "34.".
std::optional<Milliseconds> parse_decimal(std::string_view text, std::int64_t unit) noexcept {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const std::int64_t max = kMax.count();
  std::int64_t whole = 0;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) whole = std::min(whole * 10 + (text[at] - '0'), max);
  std::int64_t part = 0;  // of the fraction, in milliseconds times 1000
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = unit * 1000;
    for (++at; at < text.size() && is_digit(text[at]); ++at) {
      scale /= 10;
      part += (text[at] - '0') * scale;
    }
  }
  if (at != text.size()) return std::nullopt;
  return std::min(kMax, Milliseconds(std::min(whole * unit, max) + (part + 999) / 1000));
}

struct DateReader {
  std::string_view rest;

  bool skip(std::string_view text) noexcept {
    if (!rest.starts_with(text)) return false;
    rest.remove_prefix(text.size());
    return true;
  }
  std::optional<int> number(std::size_t digits) noexcept {
    if (rest.size() < digits) return std::nullopt;
    int value = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + digits, value);
    if (error != std::errc() || stop != rest.data() + digits || value < 0) return std::nullopt;
    rest.remove_prefix(digits);
    return value;
  }
  std::optional<unsigned> month() noexcept {
    constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (unsigned i = 0; i < kMonths.size(); ++i) {
      if (skip(kMonths[i])) return i + 1;
    }
    return std::nullopt;
  }
};

// "Sun, 06 Nov 1994 08:49:37 GMT". The two obsolete forms were never seen in Retry-After and are junk here.
std::optional<WallTime> parse_http_date(std::string_view text) noexcept {
  const std::size_t comma = text.find(", ");
  if (comma != 3) return std::nullopt;
  DateReader reader{text.substr(comma + 2)};
  const auto day = reader.number(2);
  if (!day || !reader.skip(" ")) return std::nullopt;
  const auto month = reader.month();
  if (!month || !reader.skip(" ")) return std::nullopt;
  const auto year = reader.number(4);
  if (!year || !reader.skip(" ")) return std::nullopt;
  const auto hour = reader.number(2);
  if (!hour || !reader.skip(":")) return std::nullopt;
  const auto minute = reader.number(2);
  if (!minute || !reader.skip(":")) return std::nullopt;
  const auto second = reader.number(2);
  if (!second || reader.rest != " GMT") return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

std::optional<Milliseconds> parse_retry_after(std::string_view value, WallTime now) noexcept {
  value = trimmed(value);
  if (auto seconds = parse_decimal(value, 1000)) return seconds;
  const auto date = parse_http_date(value);
  if (!date) return std::nullopt;
  // A date that has passed says "now": their clock may be behind ours.
  const auto wait = std::chrono::ceil<Milliseconds>(*date - now);
  return std::clamp(wait, Milliseconds(0), kMax);
}

// {"error":{"details":[{"@type":"…RetryInfo","retryDelay":"34.4s"}]}}
std::optional<Milliseconds> parse_retry_info(std::string_view body) {
  if (body.find("retryDelay") == std::string_view::npos || wire::check_json(body)) return std::nullopt;
  wire::JsonValue document(body);
  if (document.is_array()) {
    wire::JsonElements elements(document);
    if (!elements.next()) return std::nullopt;
    document = elements.value();
  }
  const auto details = document.at("error", "details");
  if (!details) return std::nullopt;
  for (wire::JsonElements elements(*details); elements.next();) {
    const auto delay = elements.value().member("retryDelay");
    if (!delay) continue;
    std::string_view text = delay->raw_string();
    if (!text.ends_with('s')) continue;
    text.remove_suffix(1);
    if (auto parsed = parse_decimal(text, 1000)) return parsed;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Milliseconds> retry_after(const wire::Fields& fields, std::string_view body, WallTime now) {
  std::optional<Milliseconds> by_ms;
  std::optional<Milliseconds> by_seconds;
  if (const auto value = fields.find("retry-after-ms")) by_ms = parse_decimal(trimmed(*value), 1);
  if (const auto value = fields.find("retry-after")) by_seconds = parse_retry_after(*value, now);
  // Azure sends "retry-after: 1" with "retry-after-ms: 0", and means the second.
  if (by_ms && (by_ms->count() > 0 || !by_seconds)) return by_ms;
  if (by_seconds) return by_seconds;
  return parse_retry_info(body);
}

}  // namespace qq::providers
