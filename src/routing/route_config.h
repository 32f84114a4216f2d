// What an operator says about models and routes (spec of key names: docs/configuration).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/plan.h"

namespace qq::routing {

struct ModelConfig {
  std::string name;  // public name
  std::string provider;
  std::string upstream_name;  // defaults to `name`
  std::optional<std::int64_t> context_tokens;
  std::vector<std::string> can;  // tools, vision, json_schema, ...
  bool hidden = false;           // true: not a route of its own
};

struct CandidateConfig {
  std::string model;
  double weight = 1.0;  // > 0; used by the weighted picker
};

enum class PickerKind : std::uint8_t { Order, Weighted };

struct RouteConfig {
  std::string name;
  // Recorded and validated; evaluated once requests are classified.
  std::optional<std::string> task_type;
  std::optional<Milliseconds> max_latency;
  std::vector<CandidateConfig> candidates;  // at least one
  std::vector<CandidateConfig> fallback;    // tried in order after all candidates
  PickerKind picker = PickerKind::Order;    // Weighted when any candidate states a weight
  model::Triggers triggers;
  model::RetryRules retry;
};

}  // namespace qq::routing
