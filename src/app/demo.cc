#include "app/demo.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "admission/key_format.h"
#include "app/cli/streams.h"
#include "app/demo_config.h"
#include "app/draining.h"
#include "app/gateway.h"
#include "app/signals.h"
#include "app/simulator_thread.h"
#include "wire/json.h"

namespace qq::app {
namespace {

constexpr Milliseconds kTick{250};
// A demo is stopped by a person at a keyboard.
constexpr Milliseconds kDemoDrain{2'000};

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string json_line(const std::string& base_url, const std::string& admin_url, const std::string& key,
                      const DemoConfig& demo) {
  std::string out = R"({"base_url":)";
  wire::append_json_string(out, base_url);
  out += R"(,"api_key":)";
  wire::append_json_string(out, key);
  out += R"(,"models":[)";
  bool first = true;
  for (const auto* names : {&demo.simulated_models, &demo.real_models}) {
    for (const std::string& name : *names) {
      if (!std::exchange(first, false)) out += ',';
      wire::append_json_string(out, name);
    }
  }
  out += R"(],"admin_url":)";
  wire::append_json_string(out, admin_url);
  out += R"(,"metrics_url":)";
  wire::append_json_string(out, admin_url + "/metrics");
  out += "}\n";
  return out;
}

std::string curl_line(const std::string& base_url, const std::string& key, bool stream) {
  return fmt::format(
      "curl {}{}/chat/completions -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' "
      "-d '{{\"model\":\"sim-chat\",{}\"messages\":[{{\"role\":\"user\",\"content\":\"Hello! 你好！\"}}]}}'",
      stream ? "-N " : "", base_url, key, stream ? "\"stream\":true," : "");
}

std::string text_for_people(const std::string& base_url, const std::string& admin_url, const std::string& key,
                            const DemoConfig& demo) {
  std::string models;
  for (const auto* names : {&demo.simulated_models, &demo.real_models}) {
    for (const std::string& name : *names) models += (models.empty() ? "" : ", ") + name;
  }
  return fmt::format(
      "\nQueqiao 鹊桥 is running with simulated providers. Nothing leaves this machine{}.\n\n"
      "  base URL  {}\n  API key   {}\n  models    {}\n  metrics   {}/metrics\n\n"
      "Try it:\n\n  {}\n\nStreamed:\n\n  {}\n\n"
      "A real provider: stop this, set its key (OPENAI_API_KEY, DEEPSEEK_API_KEY, MOONSHOT_API_KEY, ...) in "
      "the\n"
      "environment and start again; its models join the list. For a set-up that lasts, write a "
      "configuration\n"
      "(examples/minimal.yaml) and run `queqiao serve --config FILE`. Stop with Ctrl-C.\n\n",
      demo.real_models.empty() ? "" : " but what you send to the real models", base_url, key, models,
      admin_url, curl_line(base_url, key, false), curl_line(base_url, key, true));
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
  DemoConfig demo =
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
  const std::string base_url = fmt::format("http://{}/v1", gateway.addresses().front().text());
  const std::string admin_url = fmt::format("http://{}", gateway.addresses().back().text());
  const std::string text = options.json ? json_line(base_url, admin_url, key, demo)
                                        : text_for_people(base_url, admin_url, key, demo);
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
