// Waits until a burst of events is over. Pure: no clock, the caller passes `now`.
#pragma once
#include <algorithm>
#include <optional>

#include "base/time.h"

namespace qq::config {

class Debounce {
 public:
  explicit Debounce(Milliseconds quiet) : quiet_(quiet) {}

  void note(MonotonicTime now) {
    if (!first_) first_ = now;
    last_ = now;
  }

  // When `take` will be true if nothing more happens. Events without a pause cannot put it off for ever: ten
  // quiet times after the first one it is due.
  [[nodiscard]] std::optional<MonotonicTime> due_at() const {
    if (!first_) return std::nullopt;
    return std::min(last_ + quiet_, *first_ + 10 * quiet_);
  }

  // True once for each burst.
  [[nodiscard]] bool take(MonotonicTime now) {
    if (!first_ || now < *due_at()) return false;
    first_.reset();
    return true;
  }

 private:
  Milliseconds quiet_;
  std::optional<MonotonicTime> first_;
  MonotonicTime last_{};
};

}  // namespace qq::config
