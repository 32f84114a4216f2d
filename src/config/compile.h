// A checked configuration to the snapshot that requests use: names become pointers, providers and accounts
// become targets, and each target meets its health, which outlives the snapshot.
#pragma once
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "relay/snapshot.h"
#include "resilience/target_health.h"

namespace qq::config {

// One target for each account of a model's provider, in the order of the file. Every model that is not hidden
// is a route of its own. `generation` counts published configurations from 1. Errors (kind Config) are what
// `check` cannot know: a provider that its catalogue entry cannot reach as configured.
Result<std::shared_ptr<const relay::Snapshot>> compile(const Config& config,
                                                       resilience::HealthRegistry& healths,
                                                       std::uint64_t generation, WallTime now);

}  // namespace qq::config
