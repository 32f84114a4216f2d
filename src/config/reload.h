// Taking over a changed configuration file without a restart: parse → check → diff → new snapshot, or the old
// one kept and the reason told. Nothing here publishes: the caller posts the new snapshot to its loops, and
// running requests end on the one they pinned.
//
// Thread-safe as far as its arguments are; reads files, so not for an event loop's thread.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "config/diagnostic.h"
#include "config/diff.h"
#include "config/expand.h"
#include "relay/snapshot.h"
#include "resilience/target_health.h"

namespace qq::config {

// A configuration in use. `config` is what the gateway runs with: where the file asks for something that
// needs a restart, it still holds the old value, so that every reload says so again.
struct Active {
  Config config;
  std::shared_ptr<const relay::Snapshot> snapshot;
};

// The first one, of generation 1.
std::expected<Active, std::vector<Diagnostic>> activate(const std::string& path,
                                                        const Environment& environment,
                                                        resilience::HealthRegistry& healths, WallTime now);

enum class ReloadStatus : std::uint8_t {
  Applied,    // there is something to publish
  Unchanged,  // nothing to publish; `changes` may still hold what needs a restart
  Refused,    // the file is bad: the old one stays, `diagnostics` say why
};

struct ReloadResult {
  ReloadStatus status = ReloadStatus::Refused;
  std::optional<Config> next;                       // if Applied: what to run with from now on
  std::shared_ptr<const relay::Snapshot> snapshot;  // if Applied by `reload`: `next` compiled
  std::vector<Change> changes;
  std::vector<Diagnostic> diagnostics;
};

// The first half: parse → check → diff, for a caller that compiles by itself. `running` is the configuration
// as it was loaded, without what the process filled in since.
ReloadResult reread(const Config& running, const std::string& path, const Environment& environment);

// All of it: `reread` and compile.
ReloadResult reload(const Active& current, const std::string& path, const Environment& environment,
                    resilience::HealthRegistry& healths, WallTime now);

// For the log, a line each: what the reload came to, and a change.
std::string summary_of(const ReloadResult& result);
std::string to_text(const Change& change);
// For the operator, in one line: what the reload came to, then each change or problem.
std::string to_text(const ReloadResult& result);

}  // namespace qq::config
