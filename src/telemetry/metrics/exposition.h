// The Prometheus text of everything that is counted; the list of metrics is in docs/operations.md.
// Called by the thread that serves /metrics, while the loops go on counting.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "relay/loop_counters.h"
#include "resilience/circuit_breaker.h"
#include "telemetry/metrics/loop_metrics.h"

namespace qq::telemetry {

struct TargetState {
  std::string_view name;
  resilience::CircuitState breaker = resilience::CircuitState::Closed;
  std::uint64_t times_opened = 0;
};

// What only the caller knows at the time of the scrape.
struct ScrapeFacts {
  std::uint64_t config_generation = 0;
  std::span<const TargetState> targets;
};

struct LoopView {
  const LoopMetrics* metrics = nullptr;
  const relay::LoopCounters* counters = nullptr;  // nothing until the loop runs
};

struct ProcessFacts {
  std::string_view version;
  std::string_view compiler;
  std::uint64_t log_lines_dropped = 0;
};

std::string render(std::span<const LoopView> loops, const ScrapeFacts& scrape, const ProcessFacts& process);

}  // namespace qq::telemetry
