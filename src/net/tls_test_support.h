// What tests of TLS share: certificates, both sides' contexts, a handshake.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "net/test_certificates.h"
#include "net/test_support.h"
#include "net/tls.h"

namespace qq::net::testing {

using namespace std::chrono_literals;
using ClientPointer = std::shared_ptr<TlsClientContext>;
using ServerPointer = std::shared_ptr<TlsServerContext>;

constexpr const char* kHost = "api.example.com";

// One authority and what it signed, made once.
struct Certificates {
  Certificate authority;
  Certificate good;
  Certificate expired;
  Certificate other_host;
  Certificate numeric;
  Certificate self_signed;

  Certificates() {
    CertificateRequest request;
    request.name = "authority";
    request.authority = true;
    authority = make_certificate(request);
    request.authority = false;
    request.issuer = &authority;
    request.name = "good";
    request.alternative_names = "DNS:api.example.com";
    good = make_certificate(request);
    request.name = "expired";
    request.expires_in = -3600s;
    expired = make_certificate(request);
    request.expires_in = 1h;
    request.name = "other";
    request.alternative_names = "DNS:api.example.org,DNS:*.com,DNS:example.com";
    other_host = make_certificate(request);
    request.name = "numeric";
    request.alternative_names = "IP:127.0.0.1,IP:::1";
    numeric = make_certificate(request);
    request.name = "self";
    request.issuer = nullptr;
    request.alternative_names = "DNS:api.example.com";
    self_signed = make_certificate(request);
  }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;
  ~Certificates() {
    for (const Certificate* each : {&authority, &good, &expired, &other_host, &numeric, &self_signed}) {
      remove_files(*each);
    }
  }
  static const Certificates& get() {
    static const Certificates certificates;
    return certificates;
  }
};

inline ClientPointer client_context(std::string ca_file = Certificates::get().authority.certificate_file,
                                    bool verify = true) {
  TlsClientOptions options;
  options.ca_file = std::move(ca_file);
  options.verify = verify;
  return TlsClientContext::make(options).value();
}

inline ServerPointer server_context(const Certificate& certificate = Certificates::get().good) {
  TlsServerOptions options;
  options.certificate_file = certificate.certificate_file;
  options.key_file = certificate.key_file;
  return TlsServerContext::make(options).value();
}

using Made = std::optional<Result<std::unique_ptr<Stream>>>;

inline Task<void> accept_into(std::unique_ptr<Stream> tcp, ServerPointer context, Scope scope, Made& made) {
  made.emplace(co_await tls_accept(std::move(tcp), std::move(context), scope));
}

struct Handshake {
  Made client;
  Made server;
};
inline Task<void> shake_hands(EventLoop& loop, StreamPair tcp, ClientPointer client, ServerPointer server,
                              std::string host, Handshake& result, std::uint16_t port = 443,
                              TlsResumption resumption = TlsResumption::Yes) {
  TaskGroup group;
  group.spawn(accept_into(std::move(tcp.server), std::move(server), patiently(loop), result.server));
  result.client.emplace(co_await tls_connect(std::move(tcp.client), std::move(client), host, port,
                                             patiently(loop), resumption));
  co_await group.joined();
}
inline Task<void> echo_once(Stream& client, Stream& server, std::string text) {
  EventLoop& loop = client.loop();
  co_await write_all(client, text, patiently(loop));
  const Got asked = co_await read_until(server, text.size(), patiently(loop));
  EXPECT_EQ(asked.bytes, text);
  co_await write_all(server, asked.bytes, patiently(loop));
  const Got answered = co_await read_until(client, text.size(), patiently(loop));
  EXPECT_EQ(answered.bytes, text);
}

}  // namespace qq::net::testing
