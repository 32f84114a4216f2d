// Frees the room of what has run out, in small steps, so that nothing else waits long behind it.
//
// One loop of the process spawns it beside its requests and cancels `stop` at the end; with several processes
// on one file each may do it. A step that fails ends the round: the next one tries again.
#pragma once
#include <chrono>
#include <cstddef>

#include "base/task.h"
#include "net/event_loop.h"
#include "relay/held/holding_store.h"
#include "relay/response_store.h"

namespace qq::storage {

// Guesses: what has run out is not told anyway, so only its room waits, and 64 entries are some milliseconds.
inline constexpr std::chrono::seconds kSweepEvery{60};
inline constexpr std::chrono::milliseconds kSweepPause{50};
inline constexpr std::size_t kSweepStep = 64;

// Sweeps at once and then every kSweepEvery, in steps of kSweepStep entries with a pause between them, until
// `stop` is cancelled. All three outlive the task.
Task<void> sweep(net::EventLoop& loop, relay::ResponseStore& store, net::Cancellation& stop);
Task<void> sweep(net::EventLoop& loop, relay::HoldingStore& store, net::Cancellation& stop);

}  // namespace qq::storage
