// What a reload came to, as log lines: each problem of a refused file, or what has changed.
#pragma once
#include "config/reload.h"
#include "telemetry/telemetry.h"

namespace qq::app {

inline void log_reload(telemetry::Telemetry& telemetry, const config::ReloadResult& result) {
  for (const config::Diagnostic& diagnostic : result.diagnostics) {
    telemetry.log_event(telemetry::Level::Error, "configuration refused, the old one stays",
                        {{"problem", config::to_text(diagnostic)}});
  }
  if (result.status == config::ReloadStatus::Refused) return;
  telemetry.log_event(telemetry::Level::Info, "configuration read again",
                      {{"result", config::to_text(result)}});
}

}  // namespace qq::app
