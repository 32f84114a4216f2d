// `queqiao sim-provider`: the simulated provider on its own event loop until SIGINT or SIGTERM.
#pragma once
#include <filesystem>
#include <string>

namespace qq::simulator {

struct SimProviderOptions {
  std::string listen = "127.0.0.1:9090";
  std::string fault_listen{};          // a second port that POST /sim/listener closes and opens; empty: none
  std::filesystem::path recordings{};  // empty: none
  std::filesystem::path scenario{};    // empty: nothing goes wrong unless a request asks for it
  std::string tls_certificate{};       // PEM files, both or none: HTTPS instead of HTTP
  std::string tls_key{};
  std::size_t requests_kept = 256;  // 0: none, for load tests
  bool strict = true;               // refuses what the vendors refuse
};

// Says on stderr where it listens. Returns the exit code: 0 after a signal, 1 when it cannot start.
// Blocks SIGINT and SIGTERM in the calling thread and waits for them in one of its own.
int run_sim_provider(const SimProviderOptions& options);

}  // namespace qq::simulator
