// Where clients and operators connect.
#pragma once
#include <optional>
#include <string>

namespace qq::downstream {

struct ListenerTlsConfig {
  std::string certificate;  // file, PEM chain
  std::string key;          // file, PEM
};

struct ListenerConfig {
  std::string address;  // "0.0.0.0:8080", "[::1]:0"
  bool serve_api = true;
  bool serve_admin = false;
  bool serve_metrics = false;
  std::optional<ListenerTlsConfig> tls;
};

}  // namespace qq::downstream
