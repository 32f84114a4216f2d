// The demo's configuration, made in code.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace qq::app {

struct DemoConfig {
  config::Config config;
  std::vector<std::string> simulated_models;
  std::vector<std::string> real_models;  // added because their provider's key is in the environment
  // Of each key in the environment that adds nothing, a line that says what its provider needs beside it.
  std::vector<std::string> missing;
};

// Two listeners: the API at `listen`, and the operator's at a free port of the loopback.
// `simulator_url`: "http://127.0.0.1:PORT/v1". `variable` looks up the environment.
DemoConfig make_demo_config(const std::string& listen, const std::string& key,
                            const std::string& simulator_url,
                            const std::function<std::optional<std::string>(const std::string&)>& variable);

}  // namespace qq::app
