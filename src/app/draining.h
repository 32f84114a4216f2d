// The end of a process that was told to stop: running requests finish, and the main thread keeps its duties.
#pragma once
#include "app/gateway.h"
#include "app/signals.h"

namespace qq::app {

// Returns when every worker has ended: within `drain_time` and the last words behind it, at once if SIGTERM
// or SIGINT comes again (or SIGHUP, where that stops the process). Memory is watched and the log opened anew
// meanwhile.
void drain_and_watch(Gateway& gateway, Milliseconds drain_time, Hangup hangup);

}  // namespace qq::app
