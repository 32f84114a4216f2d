#include "app/serve.h"

#include <fmt/core.h>

#include <atomic>
#include <optional>
#include <system_error>

#include "app/cli/streams.h"
#include "app/draining.h"
#include "app/gateway.h"
#include "app/signals.h"
#include "config/file_watch.h"
#include "config/load.h"

namespace qq::app {
namespace {

constexpr Milliseconds kSignalWait{250};

Result<std::unique_ptr<Gateway>> start_gateway(config::Config config, Gateway::Options options) {
  try {
    return Gateway::start(std::move(config), std::move(options));
  } catch (const std::system_error& error) {  // of the log file
    return fail(Error::gateway(ErrorKind::Config, error.what()));
  }
}

}  // namespace

int run_serve(const std::string& config_path, const std::string& log_path) {
  take_over_signals();
  auto loaded = config::load_file(config_path, config::Environment::of_process(config::Pipes::Await));
  if (!loaded) {
    for (const config::Diagnostic& diagnostic : loaded.error())
      cli::print_err(config::to_text(diagnostic) + "\n");
    return 1;
  }
  Gateway::Options options;
  options.telemetry.version = QQ_VERSION;
  options.telemetry.log_path = log_path;
  auto started = start_gateway(*std::move(loaded), std::move(options));
  if (!started) {
    cli::print_err(fmt::format("queqiao: {}\n", started.error().message));
    return 1;
  }
  Gateway& gateway = **started;
  telemetry::Telemetry& telemetry = gateway.telemetry();
  for (const net::Address& address : gateway.addresses()) {
    telemetry.log_event(telemetry::Level::Info, "listening", {{"address", address.text()}});
  }
  std::atomic<bool> file_changed{false};
  std::optional<config::FileWatcher> watcher;
  if (auto watch = config::FileWatch::open(config_path)) {
    watcher.emplace(*std::move(watch), [&file_changed] { file_changed.store(true); });
  } else {
    telemetry.log_event(telemetry::Level::Warn, "the configuration file is not watched; reload with SIGHUP",
                        {{"reason", watch.error().message}});
  }
  for (;;) {
    const auto signal = wait_for_signal(kSignalWait, Hangup::Reloads);
    gateway.watch_memory();
    if (signal == Signal::Stop) break;
    if (signal == Signal::ReopenLog) telemetry.reopen_log();
    if (file_changed.exchange(false) || signal == Signal::Reload) {
      gateway.reload(config_path, config::Environment::of_process());
    }
  }
  watcher.reset();
  const Milliseconds drain_time = gateway.drain_time();
  telemetry.log_event(telemetry::Level::Info, "draining", {{"drain_ms", std::int64_t{drain_time.count()}}});
  drain_and_watch(gateway, drain_time, Hangup::Reloads);
  telemetry.log_event(telemetry::Level::Info, "stopped");
  return 0;
}

}  // namespace qq::app
