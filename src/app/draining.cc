#include "app/draining.h"

namespace qq::app {
namespace {

// Also how much longer than its drain a process may live.
constexpr Milliseconds kLook{20};

}  // namespace

void drain_and_watch(Gateway& gateway, Milliseconds drain_time, Hangup hangup) {
  gateway.begin_drain(drain_time);
  while (!gateway.workers_ended()) {
    const auto signal = wait_for_signal(kLook, hangup);
    gateway.watch_memory();
    if (signal == Signal::ReopenLog) gateway.telemetry().reopen_log();
    if (signal == Signal::Stop) {
      gateway.telemetry().log_event(telemetry::Level::Warn, "told to stop again: the drain is cut short");
      gateway.cut_drain_short();
    }
  }
  gateway.join();
}

}  // namespace qq::app
