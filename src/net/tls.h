// TLS over a TCP stream, client and server (OpenSSL, TLS 1.2 and 1.3, no renegotiation, no 0-RTT,
// SSL_MODE_RELEASE_BUFFERS). Contexts are immutable after creation and shared by all loops (thread-safe);
// the client context keeps the newest session tickets of each host and port for resumption.
//
// Two differences to a plain stream: after a write that would block, the same bytes are offered again (more
// may follow them), since their record is encrypted already; and a FIN without close_notify is a failure, not
// an end.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace qq::net {

struct TlsClientOptions {
  std::string ca_file;  // PEM; empty: the system's trust store. Added to it otherwise
  bool verify = true;   // off only in tests
};

struct TlsServerOptions {
  std::string certificate_file;  // PEM chain
  std::string key_file;          // PEM
};

class TlsClientContext {
 public:
  virtual ~TlsClientContext() = default;
  // Error kind Config when a file cannot be used.
  static Result<std::shared_ptr<TlsClientContext>> make(const TlsClientOptions& options);
  // Reads the system's trust store, which takes some 50 ms and a few megabytes; once, from any thread. The
  // first connection does it otherwise, so that who speaks no TLS does not pay for it.
  virtual void load_trust_store() = 0;
};

class TlsServerContext {
 public:
  virtual ~TlsServerContext() = default;
  static Result<std::shared_ptr<TlsServerContext>> make(const TlsServerOptions& options);
};

struct TlsInfo {
  bool resumed = false;
  std::string version;  // "TLSv1.3"
};

// Whether a session of that host and port is resumed, and this one's tickets are kept for the next.
enum class TlsResumption : bool { No, Yes };

// Shakes hands as client; verifies the chain and that the certificate is for `host` (a DNS name, sent as
// SNI, or a numeric address). `port` is the one that was asked for, also through a proxy. The returned stream
// owns the connection. Errors: TlsFailed (message says what: expired, wrong host, unknown issuer, alert),
// ConnectTimeout at the deadline, EarlyClose, or the cancellation's reason.
Task<Result<std::unique_ptr<Stream>>> tls_connect(std::unique_ptr<Stream> tcp,
                                                  std::shared_ptr<TlsClientContext> context, std::string host,
                                                  std::uint16_t port, Scope scope,
                                                  TlsResumption resumption = TlsResumption::Yes);
// Shakes hands as server.
Task<Result<std::unique_ptr<Stream>>> tls_accept(std::unique_ptr<Stream> tcp,
                                                 std::shared_ptr<TlsServerContext> context, Scope scope);

// About a stream made by one of the two above; nothing for others.
std::optional<TlsInfo> tls_info(const Stream& stream);

}  // namespace qq::net
