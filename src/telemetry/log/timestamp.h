// "2026-11-30T08:15:00.123Z" for log lines. Keeps the text of the last second, since lines come in order.
#pragma once
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/time.h"

namespace qq::telemetry {

class Timestamp {
 public:
  // Good until the next call.
  std::string_view text(WallTime when) {
    const auto since_epoch = std::chrono::duration_cast<Milliseconds>(when.time_since_epoch()).count();
    const std::int64_t second = since_epoch / 1000;
    if (second != second_) {
      second_ = second;
      fmt::format_to_n(text_.data(), text_.size(), "{:%Y-%m-%dT%H:%M:%S}.000Z",
                       fmt::gmtime(static_cast<std::time_t>(second)));
    }
    const auto millis = static_cast<unsigned>(since_epoch % 1000);
    text_[20] = static_cast<char>('0' + millis / 100);
    text_[21] = static_cast<char>('0' + millis / 10 % 10);
    text_[22] = static_cast<char>('0' + millis % 10);
    return {text_.data(), text_.size()};
  }

 private:
  std::int64_t second_ = std::numeric_limits<std::int64_t>::min();
  std::array<char, 24> text_{};
};

}  // namespace qq::telemetry
