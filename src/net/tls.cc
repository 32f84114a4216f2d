#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/pemerr.h>
#include <openssl/x509err.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <mutex>

#include "net/tls_sessions.h"
#include "net/tls_stream.h"

namespace qq::net {
namespace {

constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const text = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return text != nullptr ? text : "unknown error";
}

// The first of the errors that OpenSSL has piled up is the cause; the last one often is "system lib".
std::string file_fault() {
  const unsigned long code = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(static_cast<int>(ERR_GET_REASON(code)));
  for (unsigned long each = code; each != 0; each = ERR_get_error()) {
    const int library = ERR_GET_LIB(each);
    const int reason = ERR_GET_REASON(each);
    if (library == ERR_LIB_X509 &&
        (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH))
      return "it does not belong to the certificate";
    if (library == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE) return "it is not in the file, as PEM";
    if (library == ERR_LIB_PEM && reason == PEM_R_BAD_PASSWORD_READ)
      return "it is encrypted, which is not supported";
  }
  const char* const text = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return text != nullptr ? text : "unknown error";
}

Error bad_file(std::string_view what, const std::string& file) {
  return Error::gateway(ErrorKind::Config,
                        "cannot use the " + std::string(what) + " \"" + file + "\": " + file_fault());
}

// OpenSSL would ask the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*argument*/) {
  return -1;
}

void set_common_options(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // One read takes what has arrived, instead of a record's header and then its body.
  SSL_CTX_set_read_ahead(context, 1);
}

class ClientContext final : public TlsClientContext {
 public:
  ClientContext(SslContextPointer context, bool trusts_system)
      : context_(std::move(context)), trusts_system_(trusts_system) {
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context_.get(), &ClientContext::new_session);
  }
  [[nodiscard]] SSL_CTX* get() const noexcept { return context_.get(); }

  void load_trust_store() override {
    if (!trusts_system_) return;
    std::call_once(trust_store_, [this] { SSL_CTX_set_default_verify_paths(context_.get()); });
  }

  void offer_session(SSL* ssl, const std::string& origin) {
    if (const SslSessionPointer session = sessions_.take(origin)) SSL_set_session(ssl, session.get());
  }

 private:
  friend struct Peer;
  static int new_session(SSL* ssl, SSL_SESSION* session);

  SslContextPointer context_;
  const bool trusts_system_;
  std::once_flag trust_store_;
  TlsSessions sessions_;
};

// What OpenSSL's callback needs to know about a connection; kept by its stream.
struct Peer {
  std::shared_ptr<ClientContext> context;
  std::string origin;  // "host:port"; empty: no session of it is kept
};

int ClientContext::new_session(SSL* ssl, SSL_SESSION* session) {
  auto* const peer = static_cast<Peer*>(SSL_get_ex_data(ssl, 0));
  if (peer == nullptr || peer->origin.empty()) return 0;
  peer->context->sessions_.keep(peer->origin, SslSessionPointer(session));
  return 1;  // it is ours now
}

class ServerContext final : public TlsServerContext {
 public:
  explicit ServerContext(SslContextPointer context) : context_(std::move(context)) {}
  [[nodiscard]] SSL_CTX* get() const noexcept { return context_.get(); }

 private:
  SslContextPointer context_;
};

// HTTP/1.1 where the client offers it; who offers only others is answered without a choice.
int select_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                    const unsigned char* in, unsigned in_length, void* /*argument*/) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kHttp11.data(), kHttp11.size(), in, in_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

std::string_view certificate_fault(long result) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return "the certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "the certificate is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return "the certificate is for another host";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "the certificate is self-signed";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return "the certificate's issuer is unknown";
    default: return X509_verify_cert_error_string(result);
  }
}

std::string handshake_fault(SSL* ssl) {
  if (const long result = SSL_get_verify_result(ssl); result != X509_V_OK) {
    return std::string(certificate_fault(result));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER) {
    return "the other side does not speak TLS";
  }
  return openssl_reason();
}

}  // namespace

Result<std::shared_ptr<TlsClientContext>> TlsClientContext::make(const TlsClientOptions& options) {
  ERR_clear_error();
  SslContextPointer context(SSL_CTX_new(TLS_client_method()));
  QQ_ASSERT(context != nullptr);
  set_common_options(context.get());
  if (options.verify) SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (!options.ca_file.empty() && SSL_CTX_load_verify_file(context.get(), options.ca_file.c_str()) != 1) {
    return fail(bad_file("CA file", options.ca_file));
  }
  SSL_CTX_set_alpn_protos(context.get(), kHttp11.data(), kHttp11.size());
  return std::make_shared<ClientContext>(std::move(context), options.verify);
}

Result<std::shared_ptr<TlsServerContext>> TlsServerContext::make(const TlsServerOptions& options) {
  ERR_clear_error();
  SslContextPointer context(SSL_CTX_new(TLS_server_method()));
  QQ_ASSERT(context != nullptr);
  set_common_options(context.get());
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_default_passwd_cb(context.get(), &no_password);
  if (SSL_CTX_use_certificate_chain_file(context.get(), options.certificate_file.c_str()) != 1) {
    return fail(bad_file("certificate", options.certificate_file));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return fail(bad_file("key", options.key_file));
  }
  // Resumption is by tickets, which cost the server no memory; 0-RTT stays off (OpenSSL's default).
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 1);
  static constexpr std::array<unsigned char, 7> kIdContext = {'q', 'u', 'e', 'q', 'i', 'a', 'o'};
  SSL_CTX_set_session_id_context(context.get(), kIdContext.data(), kIdContext.size());
  SSL_CTX_set_alpn_select_cb(context.get(), &select_protocol, nullptr);
  return std::make_shared<ServerContext>(std::move(context));
}

Task<Result<std::unique_ptr<Stream>>> tls_connect(std::unique_ptr<Stream> tcp,
                                                  std::shared_ptr<TlsClientContext> context, std::string host,
                                                  std::uint16_t port, Scope scope, TlsResumption resumption) {
  auto client = std::static_pointer_cast<ClientContext>(std::move(context));
  client->load_trust_store();
  SslPointer ssl(SSL_new(client->get()));
  QQ_ASSERT(ssl != nullptr);
  if (host.ends_with('.')) host.pop_back();
  if (const auto numeric = Address::from_host(host, 0)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), numeric->host_text().c_str());
  } else {
    // SSL_set_tlsext_host_name, without the old-style casts of that macro.
    SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
    SSL_set1_host(ssl.get(), host.c_str());
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  }
  std::string origin;
  if (resumption == TlsResumption::Yes) {
    origin = host + ":" + std::to_string(port);
    client->offer_session(ssl.get(), origin);
  }
  SSL_set_connect_state(ssl.get());

  auto peer = std::make_shared<Peer>(std::move(client), std::move(origin));
  SSL_set_ex_data(ssl.get(), 0, peer.get());
  auto stream = std::make_unique<TlsStream>(std::move(tcp), std::move(ssl), std::move(peer));
  const auto failure = co_await stream->handshake(scope);
  if (!failure) co_return stream;
  const std::string with = "the TLS handshake with \"" + host + "\" ";
  switch (*failure) {
    case HandshakeFailure::Tls:
      co_return fail(Error::upstream(ErrorKind::TlsFailed, AttemptPhase::NotSent,
                                     with + "failed: " + handshake_fault(stream->ssl())));
    case HandshakeFailure::Closed:
      co_return fail(Error::upstream(ErrorKind::EarlyClose, AttemptPhase::NotSent,
                                     with + "was cut: the connection was closed"));
    case HandshakeFailure::Deadline:
      co_return fail(
          Error::upstream(ErrorKind::ConnectTimeout, AttemptPhase::NotSent, with + "took too long"));
    case HandshakeFailure::Cancelled: break;
  }
  co_return fail(cancelled_error(scope));
}

Task<Result<std::unique_ptr<Stream>>> tls_accept(std::unique_ptr<Stream> tcp,
                                                 std::shared_ptr<TlsServerContext> context, Scope scope) {
  const auto server = std::static_pointer_cast<ServerContext>(std::move(context));
  SslPointer ssl(SSL_new(server->get()));
  QQ_ASSERT(ssl != nullptr);
  SSL_set_accept_state(ssl.get());
  auto stream = std::make_unique<TlsStream>(std::move(tcp), std::move(ssl), nullptr);
  const auto failure = co_await stream->handshake(scope);
  if (!failure) co_return stream;
  switch (*failure) {
    case HandshakeFailure::Tls:
      co_return fail(
          Error::client(ErrorKind::TlsFailed, "the TLS handshake failed: " + handshake_fault(stream->ssl())));
    case HandshakeFailure::Closed:
      co_return fail(Error::client(ErrorKind::ClientGone, "the client hung up during the TLS handshake"));
    case HandshakeFailure::Deadline:
      co_return fail(Error::client(ErrorKind::RequestTimeout, "the TLS handshake took too long"));
    case HandshakeFailure::Cancelled: break;
  }
  co_return fail(cancelled_error(scope));
}

std::optional<TlsInfo> tls_info(const Stream& stream) {
  const auto* const tls = dynamic_cast<const TlsStream*>(&stream);
  if (tls == nullptr) return std::nullopt;
  TlsInfo info;
  info.resumed = SSL_session_reused(tls->ssl()) == 1;
  info.version = SSL_get_version(tls->ssl());
  return info;
}

}  // namespace qq::net
