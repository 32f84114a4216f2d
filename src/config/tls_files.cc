#include "config/tls_files.h"

#include <fmt/format.h>

#include "config/read_file.h"
#include "net/tls.h"

namespace qq::config {
namespace {

// A chain of ten certificates has 20 KiB, all authorities of a system some 250.
constexpr std::size_t kMaxTlsFileBytes = 4U << 20U;

class Mistakes {
 public:
  // OpenSSL would wait for a pipe's writer. False if the file is no good.
  bool look_at(const std::string& field, const std::string& path) {
    const auto content = read_file(path, kMaxTlsFileBytes);
    if (!content) return add(field, fmt::format("{} {}", path, content.error()));
    if (content->size() > kMaxTlsFileBytes) return add(field, path + " is too large");
    return true;
  }
  bool add(const std::string& field, const std::string& what) {
    list_.push_back(fmt::format("{}: {}", field, what));
    return false;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

}  // namespace

std::vector<std::string> tls_file_mistakes(const Config& config) {
  Mistakes mistakes;
  for (std::size_t i = 0; i < config.listeners.size(); ++i) {
    const auto& tls = config.listeners[i].tls;
    if (!tls) continue;
    const std::string field = fmt::format("listeners[{}].tls", i);
    const bool certificate = mistakes.look_at(field + ".certificate", tls->certificate);
    const bool key = mistakes.look_at(field + ".key", tls->key);
    if (!certificate || !key) continue;
    net::TlsServerOptions options;
    options.certificate_file = tls->certificate;
    options.key_file = tls->key;
    if (const auto made = net::TlsServerContext::make(options); !made)
      mistakes.add(field, made.error().message);
  }
  if (const std::string field = "outbound.ca_file";
      !config.outbound_ca_file.empty() && mistakes.look_at(field, config.outbound_ca_file)) {
    net::TlsClientOptions options;
    options.ca_file = config.outbound_ca_file;
    if (const auto made = net::TlsClientContext::make(options); !made)
      mistakes.add(field, made.error().message);
  }
  return mistakes.take();
}

}  // namespace qq::config
