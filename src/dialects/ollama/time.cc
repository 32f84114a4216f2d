#include "dialects/ollama/time.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace qq::dialects::ollama {
namespace {

// The digits at `at`; -1 if they are none.
int digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  if (text.size() < at + count) return -1;
  int value = 0;
  const char* const end = text.data() + at + count;
  const auto read = std::from_chars(text.data() + at, end, value);
  return read.ec == std::errc() && read.ptr == end && value >= 0 ? value : -1;
}

}  // namespace

std::int64_t unix_time(std::string_view rfc3339) noexcept {
  using namespace std::chrono;
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (rfc3339.size() <= kForm.size()) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != '0' && kForm[i] != rfc3339[i]) return 0;
  }
  const int year_number = digits(rfc3339, 0, 4);
  const int month_number = digits(rfc3339, 5, 2);
  const int day_number = digits(rfc3339, 8, 2);
  const int hour = digits(rfc3339, 11, 2);
  const int minute = digits(rfc3339, 14, 2);
  const int second = digits(rfc3339, 17, 2);
  if (year_number < 0 || month_number < 0 || day_number < 0 || hour < 0 || minute < 0 || second < 0) return 0;
  const year_month_day date{year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number))};
  if (!date.ok()) return 0;
  std::int64_t out = duration_cast<seconds>(sys_days(date).time_since_epoch()).count();
  out += (hour * 60 + minute) * 60 + second;
  const std::size_t behind = rfc3339.find_first_not_of(".0123456789", kForm.size());
  const std::string_view zone = rfc3339.substr(std::min(behind, rfc3339.size()));
  const int zone_hours = digits(zone, 1, 2);
  const int zone_minutes = digits(zone, 4, 2);
  if (zone_hours < 0 || zone_minutes < 0) return out;
  const std::int64_t offset = (zone_hours * 60 + zone_minutes) * 60;
  return zone.front() == '-' ? out + offset : out - offset;
}

}  // namespace qq::dialects::ollama
