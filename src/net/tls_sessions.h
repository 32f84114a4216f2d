// The TLS sessions that a client may resume, by host and port. Thread-safe: touched when a handshake begins
// and when a ticket comes.
//
// Most servers send two tickets after a handshake, so that two connections at once may resume; each is meant
// to be used once (RFC 8446 C.4), and some servers see to that. So the newest is handed out and forgotten.
// Only the last one stays: to use it again is worth more than a full handshake. For the files of net/ only.
#pragma once
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "net/tls_stream.h"

namespace qq::net {

class TlsSessions {
 public:
  // A guess: far more than any configuration has providers; a session is some 2 KB.
  static constexpr std::size_t kOriginsMost = 1024;

  void keep(const std::string& origin, SslSessionPointer session);
  // Null if there is none.
  [[nodiscard]] SslSessionPointer take(const std::string& origin);

 private:
  using Newest = std::array<SslSessionPointer, 2>;

  std::mutex mutex_;
  std::map<std::string, Newest> origins_;  // the newest session first
};

}  // namespace qq::net
