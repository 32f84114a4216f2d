// The process's signals, waited for by the main thread. Blocked in all threads, so they must be taken over
// before any thread starts.
#pragma once
#include <optional>

#include "base/time.h"

namespace qq::app {

enum class Signal { Stop, Reload, ReopenLog };

// What SIGHUP means: for a server its configuration, for a program at a terminal that the terminal is gone
// (unless it is ignored, as nohup has it).
enum class Hangup { Reloads, Stops };

// Blocks SIGTERM, SIGINT (Stop), SIGHUP, SIGUSR1 (ReopenLog) and ignores SIGPIPE.
void take_over_signals();
// Waits for the next one, at most `timeout`.
std::optional<Signal> wait_for_signal(Milliseconds timeout, Hangup hangup);

}  // namespace qq::app
