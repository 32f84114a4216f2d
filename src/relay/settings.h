// Timers and limits of every request.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"

namespace qq::relay {

// One timer per phase; all of them under `total`, the request's one absolute deadline.
struct Timers {
  Milliseconds connect{3'000};
  Milliseconds tls{3'000};
  Milliseconds send_progress{30'000};  // between two successful writes to the provider
  Milliseconds first_byte{15'000};     // from the sent request to the reply's head
  Milliseconds first_content{60'000};  // from when the request begins to be sent to the first content
  // The two for models that reason, whatever is longer.
  Milliseconds first_byte_reasoning{120'000};
  Milliseconds first_content_reasoning{300'000};
  Milliseconds event_gap{60'000};           // between whole lines, armed after the first content
  Milliseconds total{15 * 60'000};          // from entry to end
  Milliseconds client_write_stall{30'000};  // the client takes nothing
  Milliseconds client_head{10'000};         // a request head must be complete
  Milliseconds client_body_grace{10'000};   // then the body must come at 1 KiB/s at least
  Milliseconds client_idle{60'000};         // keep-alive without a request
  Milliseconds realtime_idle{15 * 60'000};  // no message of either side
  Milliseconds heartbeat{10'000};           // silence before a comment goes to a streaming client
  Milliseconds drain{300'000};              // after SIGTERM
  Milliseconds drain_announce{5'000};       // of it: new requests are taken while load balancers look away
};

struct Limits {
  std::size_t body_max = 64U << 20U;             // of a request
  std::size_t bodies_in_flight_max = 1U << 30U;  // of all requests of the process
  std::size_t head_max = 64U << 10U;
  std::size_t json_nodes_max = 2'000'000;
  std::size_t json_depth_max = 256;
  std::size_t held_answer_max = 1U << 20U;        // a whole answer is held this long before it commits
  std::size_t event_max = 16U << 20U;             // one streamed event
  std::size_t realtime_message_max = 16U << 20U;  // one message of either side; OpenAI takes 15 MiB of sound
  std::size_t media_max = 20U << 20U;  // what is fetched for one request that names pictures by their URLs
  std::size_t error_body_max = 64U << 10U;  // kept of a provider's error
  std::size_t memory_max = 0;       // process memory for the 80/90/95 % steps; 0: the machine's or cgroup's
  std::size_t connections_max = 0;  // 0: from the descriptor limit
};

struct OutboundProxy {
  std::string host;  // empty: none
  std::uint16_t port = 0;
  std::string authorization;  // "Basic ..."; empty: none
};

}  // namespace qq::relay
