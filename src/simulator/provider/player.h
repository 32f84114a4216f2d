// Plays a composed reply on a stream: writes, pauses, slow drips, byte-by-byte writes.
#pragma once
#include "base/task.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "simulator/provider/compose.h"

namespace qq::simulator {

struct Played {
  bool all_written = false;
  std::uint64_t bytes = 0;
};

// Writes the steps. Ends early when the peer resets or `scope` is cancelled while waiting. How the
// connection ends (`play.end`) is the caller's.
Task<Played> play_steps(net::Stream& stream, const Play& play, net::Scope scope);

}  // namespace qq::simulator
