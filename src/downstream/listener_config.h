// Where clients and operators connect.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace qq::downstream {

struct ListenerTlsConfig {
  std::string certificate;  // file, PEM chain
  std::string key;          // file, PEM
};

// Connections at one time on listeners without `api`, all together. They are for operators and their probes,
// who must not find the door shut because clients fill the gateway: so they have a limit of their own, within
// the reserve of descriptors (app/descriptor_reserve.h). A guess.
inline constexpr std::size_t kOperatorConnectionsMax = 16;

struct ListenerConfig {
  std::string address;  // "0.0.0.0:8080", "[::1]:0"
  bool serve_api = true;
  bool serve_admin = false;
  bool serve_metrics = false;
  std::optional<ListenerTlsConfig> tls;
};

}  // namespace qq::downstream
