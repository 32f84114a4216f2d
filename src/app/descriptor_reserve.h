// How many client connections the limit on open descriptors has room for, behind what the process needs for
// itself. A relayed request needs two descriptors; the listener's spare one answers who comes beyond. Idle
// connections to providers are not counted: they make way (upstream/pool.h).
#pragma once
#include <algorithm>
#include <cstddef>

#include "downstream/turned_away.h"

namespace qq::app {

// Descriptors that are no relayed connections, of `loops` loops with `listeners` listeners, and of as many
// connections of operators.
constexpr std::size_t reserved_descriptors(std::size_t loops, std::size_t listeners,
                                           std::size_t operators = 0) noexcept {
  // Of the process: the three standard streams, the log and its wake-up, the watch of the configuration, and
  // what a start, a reload or a look at the memory has open for a moment: a dozen. The rest is a guess at
  // what libraries open.
  constexpr std::size_t kProcess = 48;
  // Of a loop: its two epoll sets and its wake-up; to each of the three name servers that a resolv.conf may
  // have, one socket of UDP and one of TCP.
  constexpr std::size_t kLoop = 3 + 3 * 2;
  // A listener's socket is shared; each loop has a spare descriptor for it.
  const std::size_t of_listeners = listeners * (1 + loops);
  const std::size_t of_turned_away = loops * downstream::TurnedAway::most_of_one(loops);
  return kProcess + loops * kLoop + of_listeners + of_turned_away + operators;
}

// At least one connection for each loop. 0, which means no limit, where the reserve alone is more than there
// is, or nobody knows how many there are: then the spare descriptors are the only bound.
constexpr std::size_t connections_within(std::size_t descriptors, std::size_t loops, std::size_t listeners,
                                         std::size_t operators = 0) noexcept {
  const std::size_t reserved = reserved_descriptors(loops, listeners, operators);
  return descriptors > reserved ? std::max((descriptors - reserved) / 2, loops) : 0;
}

}  // namespace qq::app
