#include "app/demo.h"

#include <fmt/core.h>

#include <cstdlib>

#include "admission/key_format.h"
#include "app/cli/streams.h"
#include "app/demo_config.h"
#include "app/demo_text.h"
#include "app/draining.h"
#include "app/gateway.h"
#include "app/signals.h"
#include "app/simulator_thread.h"

namespace qq::app {
namespace {

constexpr Milliseconds kTick{250};
// A demo is stopped by a person at a keyboard.
constexpr Milliseconds kDemoDrain{2'000};

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

int run_demo(const DemoOptions& options) {
  take_over_signals();
  SimulatorThread simulator;
  const auto simulated = simulator.start();
  if (!simulated) {
    cli::print_err(
        fmt::format("queqiao demo: the simulated provider cannot listen: {}\n", simulated.error().message));
    return 1;
  }
  const std::string key = options.key.empty() ? std::string(admission::make_key().reveal()) : options.key;
  const DemoConfig demo =
      make_demo_config(options.listen, key, fmt::format("http://{}/v1", simulated->text()), variable);
  Gateway::Options gateway_options;
  gateway_options.telemetry.version = QQ_VERSION;
  auto started = Gateway::start(demo.config, std::move(gateway_options));
  if (!started) {
    cli::print_err(fmt::format(
        "queqiao demo: {}\nAnother address: queqiao demo --listen 127.0.0.1:0 picks a free port.\n",
        started.error().message));
    return 1;
  }
  Gateway& gateway = **started;
  const DemoPlace place{gateway.addresses().front(), gateway.addresses().back(), key};
  const std::string text = options.json ? demo_json(place, demo) : demo_text(place, demo);
  // Without its key nobody can use the demo.
  if (!cli::print_out(text)) {
    cli::print_err("queqiao demo: the output could not be written\n");
    return 1;
  }
  while (wait_for_signal(kTick, Hangup::Stops) != Signal::Stop) gateway.watch_memory();
  drain_and_watch(gateway, kDemoDrain, Hangup::Stops);
  return 0;
}

}  // namespace qq::app
