// TLS on top of another stream, which it owns. OpenSSL reads and writes through the lower stream's tries (a
// BIO of our own), so it works over any stream, never raises SIGPIPE, and shares the lower one's knowledge of
// what is ready: with read-ahead, one arrival is one recv. For the files of net/ only.
//
// Readiness: OpenSSL may hold bytes that the socket no longer shows, so the stream counts as readable until
// SSL_read says that it wants more.
//
// A write that would block has encrypted its record already: the same bytes must be offered again (more may
// follow them), as any writer that waits for writable() does.
#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "net/tls.h"

namespace qq::net {

struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
};
using SslPointer = std::unique_ptr<SSL, FreeSsl>;
using SslContextPointer = std::unique_ptr<SSL_CTX, FreeSsl>;
using SslSessionPointer = std::unique_ptr<SSL_SESSION, FreeSsl>;

// Why a handshake failed, to be turned into the error of the side that began it.
enum class HandshakeFailure : std::uint8_t { Tls, Closed, Deadline, Cancelled };

class TlsStream final : public Stream {
 public:
  // `keep` is kept alive as long as the stream: what OpenSSL's callbacks use.
  TlsStream(std::unique_ptr<Stream> below, SslPointer ssl, std::shared_ptr<const void> keep) noexcept;
  ~TlsStream() override;

  // Nothing when it is done.
  Task<std::optional<HandshakeFailure>> handshake(Scope scope);

  IoTry try_read(std::span<char> into) noexcept override;
  IoTry try_write(std::span<const iovec> pieces) noexcept override;
  void shutdown_write() noexcept override;
  void set_reset_on_close() noexcept override;
  [[nodiscard]] bool settle() noexcept override;
  [[nodiscard]] std::uint64_t acknowledged() noexcept override { return below_->acknowledged(); }
  void set_relaxed(bool relaxed) noexcept override { below_->set_relaxed(relaxed); }
  [[nodiscard]] Address peer() const override { return below_->peer(); }
  [[nodiscard]] bool is_tls() const noexcept override { return true; }
  [[nodiscard]] SSL* ssl() const noexcept { return ssl_.get(); }

 private:
  friend struct StreamBio;
  enum class Mood : std::uint8_t { Handshaking, Open, Ended, Broken };

  void below_became_readable() noexcept override;
  void below_became_writable() noexcept override;
  // What a failed SSL call means; `reading` and `writing` block as it says.
  IoTry outcome(int result, bool reading) noexcept;
  void send_close_notify() noexcept;

  std::unique_ptr<Stream> below_;
  std::shared_ptr<const void> keep_;
  SslPointer ssl_;
  IoTry end_;            // how reading ended, once it has
  int below_error_ = 0;  // an errno of the lower stream
  bool below_closed_ = false;
  Mood mood_ = Mood::Handshaking;
  bool read_wants_write_ = false;
  bool write_wants_read_ = false;
  bool close_notify_wanted_ = false;
  bool reset_on_close_ = false;
};

}  // namespace qq::net
