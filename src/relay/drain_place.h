// A place among the few attempts of a loop that are read on for their usage when their client has left
// (usage_drain.h), and how long it may be kept. Taken with the client's leaving, given back at the request's
// end.
#pragma once
#include <optional>

#include "relay/loop_services.h"

namespace qq::relay {

class DrainPlace {
 public:
  explicit DrainPlace(LoopServices& services) noexcept;
  DrainPlace(const DrainPlace&) = delete;
  DrainPlace& operator=(const DrainPlace&) = delete;
  ~DrainPlace();

  // Until when to wait for the provider before this is asked again. Nothing if there was no place or the time
  // is up: its own, or that of all requests of a process that shuts down.
  [[nodiscard]] std::optional<MonotonicTime> wait_until() const noexcept;

 private:
  LoopServices& services_;
  bool taken_;
  MonotonicTime ends_;
};

}  // namespace qq::relay
