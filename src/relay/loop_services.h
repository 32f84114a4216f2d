// What one event loop lends to the requests it relays. One per loop, outlives them.
#pragma once
#include <atomic>
#include <memory>

#include "base/random.h"
#include "net/event_loop.h"
#include "relay/loop_counters.h"
#include "relay/request_record.h"
#include "relay/snapshot.h"
#include "relay/spare_bodies.h"
#include "relay/upstream_client.h"
#include "resilience/retry_budget.h"

namespace qq::relay {

// Shared by all loops of the process.
struct ProcessState {
  std::atomic<bool> draining{false};
  std::atomic<std::int64_t> bodies_in_flight_bytes{0};
  // 0 normal; 1 refuse bodies over 1 MiB (80 %); 2 refuse new requests (90 %); 3 refuse connections (95 %).
  std::atomic<int> memory_step{0};
};

class Authorizer;
class HoldingStore;
class ResponseStore;

struct LoopServices {
  net::EventLoop& loop;
  UpstreamClient& upstream;
  RequestObserver& observer;
  LoopCounters& counters;
  ProcessState& process;
  std::shared_ptr<const Snapshot> snapshot;  // the newest; requests pin their own
  Random random;
  ResponseStore* responses = nullptr;  // null: nothing is kept
  HoldingStore* holdings = nullptr;    // null: files and batches are not offered
  resilience::RetryBudget retry_budget{};
  SpareBodies spare_bodies{};
  std::int64_t usage_drains = 0;  // attempts that are read on for their usage; see usage_drain.h
  // When what still runs is cut: the end of the drain time, once a drain has begun.
  MonotonicTime requests_until = kNever;
  Authorizer* authorizer = nullptr;  // null: no target wants more than fixed header lines
};

}  // namespace qq::relay
