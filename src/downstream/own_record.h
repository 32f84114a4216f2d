// The record of a request that never came to the relay: refused, or answered by the gateway itself.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "admission/key_ring.h"
#include "base/error.h"
#include "base/ids.h"
#include "downstream/refusals.h"
#include "relay/client_port.h"
#include "relay/loop_services.h"

namespace qq::downstream {

struct OwnRequest {
  RequestId id;
  WallTime wall_started{};
  MonotonicTime started{};
  std::string what;  // "GET /nowhere"; empty if the head was no HTTP
  AskedPath asked{};
  const admission::KeyEntry* key = nullptr;
  std::size_t body_bytes = 0;
  std::uint64_t config_generation = 0;
};

// Hands it to the observer, as ended now. `status`: 0 if nothing was sent. `error`: null if there was none.
void record_own(relay::LoopServices& services, const relay::ClientPort& client, const OwnRequest& own,
                int status, const Error* error);

}  // namespace qq::downstream
