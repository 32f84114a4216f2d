#include "relay/drain_place.h"

#include <algorithm>

namespace qq::relay {
namespace {

constexpr Milliseconds kLongest{10'000};
constexpr std::int64_t kShare = 50;  // one in so many of the loop's requests in flight, and one always
// That a drain has begun, or is cut short, is noticed this late at most.
constexpr Milliseconds kLook{1'000};

bool has_room(const LoopServices& services) noexcept {
  const std::int64_t places = services.counters.requests_in_flight.get() / kShare;
  return services.usage_drains < std::max(places, std::int64_t{1});
}

}  // namespace

DrainPlace::DrainPlace(LoopServices& services) noexcept
    : services_(services), taken_(has_room(services)), ends_(services.loop.now() + kLongest) {
  if (taken_) ++services_.usage_drains;
}

DrainPlace::~DrainPlace() {
  if (taken_) --services_.usage_drains;
}

std::optional<MonotonicTime> DrainPlace::wait_until() const noexcept {
  const MonotonicTime now = services_.loop.precise_now();
  const MonotonicTime ends = std::min(ends_, services_.requests_until);
  if (!taken_ || now >= ends) return std::nullopt;
  return std::min(ends, now + kLook);
}

}  // namespace qq::relay
