// What a configuration came to, as log lines: each problem of a refused file, or each change, and what
// will surprise whoever runs it. A line has no room for a list of them.
#pragma once
#include "config/reload.h"
#include "telemetry/telemetry.h"

namespace qq::app {

inline void log_missing_keys(telemetry::Telemetry& telemetry, const config::Config& config) {
  if (!config.keys.empty()) return;
  telemetry.log_event(telemetry::Level::Warn, "no client keys are configured: every request is refused");
}

inline void log_reload(telemetry::Telemetry& telemetry, const config::ReloadResult& result) {
  for (const config::Diagnostic& diagnostic : result.diagnostics) {
    telemetry.log_event(telemetry::Level::Error, "configuration refused, the old one stays",
                        {{"problem", config::to_text(diagnostic)}});
  }
  if (result.status == config::ReloadStatus::Refused) return;
  telemetry.log_event(telemetry::Level::Info, "configuration read again",
                      {{"result", config::summary_of(result)}});
  for (const config::Change& change : result.changes) {
    telemetry.log_event(telemetry::Level::Info, "configuration change",
                        {{"change", config::to_text(change)}});
  }
  if (result.next) log_missing_keys(telemetry, *result.next);
}

}  // namespace qq::app
