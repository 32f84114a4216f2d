// Reads the `data:` lines of an event stream that arrives in pieces, and the time stamp that the mock
// wrote into an event: "t=" and 19 digits of monotonic nanoseconds at the start of the delta's text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::bench {

constexpr std::string_view kStampMark = "\"t=";
constexpr std::size_t kStampDigits = 19;

class EventScanner {
 public:
  // `on_event(data)` is called for each whole `data:` line.
  template <typename OnEvent>
  void feed(std::string_view bytes, OnEvent&& on_event) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) {
        held_.append(bytes);
        return;
      }
      std::string_view line = bytes.substr(0, end);
      if (!held_.empty()) line = held_.append(line);
      if (line.starts_with("data:")) on_event(line.substr(5));
      held_.clear();
      bytes.remove_prefix(end + 1);
    }
  }
  void reset() { held_.clear(); }

  // The stamp in an event's data, or 0. Looks first where the last one stood.
  static std::int64_t stamp_in(std::string_view data) {
    static std::size_t last = 0;
    std::size_t at = last;
    if (data.size() < at + kStampMark.size() || data.substr(at, kStampMark.size()) != kStampMark) {
      at = data.find(kStampMark);
      if (at == std::string_view::npos) return 0;
      last = at;
    }
    std::int64_t stamp = 0;
    for (const char digit : data.substr(at + kStampMark.size(), kStampDigits)) {
      if (digit < '0' || digit > '9') return 0;
      stamp = stamp * 10 + (digit - '0');
    }
    return stamp;
  }

 private:
  std::string held_;  // an incomplete line
};

}  // namespace qq::bench
