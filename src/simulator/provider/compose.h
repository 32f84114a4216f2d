// From an answer and its stage directions to what happens on the socket: bytes, pauses, and an end. Pure:
// the byte-level truth of every fault is here and can be read without a connection.
//
//   reply --events (errors, ends, AWS frames, spelling)--> --coding (gzip, …)--> --framing (length,
//   chunks)-->
//         --cuts (FIN, reset, stall at a place)--> play
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

struct Step {
  std::string bytes{};
  std::uint64_t repeat = 1;  // written so many times
  Milliseconds pause{0};     // waited for before the bytes
};

enum class PlayEnd : std::uint8_t {
  KeepAlive,     // the connection serves the next request
  Close,         // FIN
  CloseOnReuse,  // FIN when the next request comes
  Reset,
  Stall,  // nothing more, until the peer hangs up
};

struct Play {
  std::vector<Step> steps{};
  PlayEnd end = PlayEnd::KeepAlive;
  std::uint64_t rate = 0;   // bytes a second; 0: no limit
  std::uint64_t split = 0;  // bytes per write; 0: as they come
  bool complete = true;     // the whole reply was meant to be sent: no cut, no stall
};

// What of the request matters for its framing.
struct AskedFraming {
  int minor_version = 1;
  bool keep_alive = true;
};

Play compose(Reply reply, const Script& script, const AskedFraming& framing, WallTime now);

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 5.6.7).
std::string http_date(WallTime when);

}  // namespace qq::simulator
