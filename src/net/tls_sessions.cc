#include "net/tls_sessions.h"

namespace qq::net {

void TlsSessions::keep(const std::string& origin, SslSessionPointer session) {
  const std::lock_guard lock(mutex_);
  auto found = origins_.find(origin);
  if (found == origins_.end()) {
    if (origins_.size() >= kOriginsMost) origins_.erase(origins_.begin());
    found = origins_.emplace(origin, Newest()).first;
  }
  Newest& newest = found->second;
  newest[1] = std::move(newest[0]);
  newest[0] = std::move(session);
}

SslSessionPointer TlsSessions::take(const std::string& origin) {
  const std::lock_guard lock(mutex_);
  const auto found = origins_.find(origin);
  if (found == origins_.end()) return nullptr;
  Newest& newest = found->second;
  if (newest[1]) return std::exchange(newest[0], std::move(newest[1]));
  SSL_SESSION_up_ref(newest[0].get());
  return SslSessionPointer(newest[0].get());
}

}  // namespace qq::net
