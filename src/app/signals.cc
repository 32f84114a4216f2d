#include "app/signals.h"

#include <csignal>

namespace qq::app {
namespace {

sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

bool hangup_is_ignored() {
  struct sigaction action{};
  return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void take_over_signals() {
  const sigset_t set = our_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

std::optional<Signal> wait_for_signal(Milliseconds timeout, Hangup hangup) {
  const sigset_t set = our_signals();
  timespec wait{};
  wait.tv_sec = timeout.count() / 1000;
  wait.tv_nsec = (timeout.count() % 1000) * 1'000'000;
  switch (sigtimedwait(&set, nullptr, &wait)) {
    case SIGTERM:
    case SIGINT: return Signal::Stop;
    case SIGHUP:
      if (hangup == Hangup::Reloads) return Signal::Reload;
      return hangup_is_ignored() ? std::nullopt : std::optional(Signal::Stop);
    case SIGUSR1: return Signal::ReopenLog;
    default: return std::nullopt;
  }
}

}  // namespace qq::app
