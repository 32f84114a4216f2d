// A Realtime connection of the simulated provider, from its 101 to its end: frames in and out, pacing,
// faults.
//
//   ttft, gap              before the first delta of a response, and between later ones
//   stall_after_head       the 101, and no word after it
//   stall_after_content    no word after a response's first delta
//   close_mid_body, reset_mid_body, stall_mid_body
//                          at the delta `at` of a response (the third, unless it is said)
//   no_done                Close 1011 instead of response.done
//   usage_missing, usage_repeated, big_event
#pragma once
#include <string>

#include "base/task.h"
#include "net/stream.h"
#include "simulator/provider/realtime.h"

namespace qq::simulator {

struct RealtimePlayed {
  enum class End : std::uint8_t { Complete, Cut, Aborted };
  End end = End::Aborted;
  std::uint64_t bytes = 0;
};

// `accept`: Sec-WebSocket-Accept. `received`: behind the client's head. A reset is left for the close.
Task<RealtimePlayed> play_realtime(net::Stream& stream, RealtimeModel model, Script script,
                                   std::string accept, std::string received, net::Scope scope);

}  // namespace qq::simulator
