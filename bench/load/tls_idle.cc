// qq_tls_idle: what an idle TLS connection costs any OpenSSL client. Opens N connections, asks each for
// an event stream, reads its first event, and prints the resident memory that this process gained per
// connection. The gateway's own figure is judged by how much it lies above this one.
//
//   qq_tls_idle PORT CONNECTIONS full|resumed
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "load/process.h"

namespace qq::bench {
namespace {

constexpr std::string_view kRequest =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "Content-Length: 15\r\n\r\n{\"stream\":true}";

// The newest ticket; each connection may offer it.
SSL_SESSION* latest_session = nullptr;

int keep_session(SSL*, SSL_SESSION* session) {
  SSL_SESSION_free(latest_session);
  latest_session = session;
  return 1;  // the reference is ours now
}

SSL* open_stream(SSL_CTX* context, int port, bool resume) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return nullptr;
  SSL* connection = SSL_new(context);
  SSL_set_fd(connection, fd);
  char name[] = "localhost";  // the macro SSL_set_tlsext_host_name hides an old-style cast
  SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name);
  if (resume && latest_session != nullptr) SSL_set_session(connection, latest_session);
  if (SSL_connect(connection) != 1) return nullptr;
  if (SSL_write(connection, kRequest.data(), static_cast<int>(kRequest.size())) <= 0) return nullptr;
  char answer[4096];
  return SSL_read(connection, answer, sizeof answer) > 0 ? connection : nullptr;
}

int run(int port, int count, bool resume) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, keep_session);
  std::vector<SSL*> connections;
  std::int64_t before = 0;
  constexpr int kWarmUp = 8;  // their memory is the library's own, not a connection's
  for (int i = 0; i < kWarmUp + count; ++i) {
    if (i == kWarmUp) before = resident_kib({getpid()});
    connections.push_back(open_stream(context, port, resume));
    if (connections.back() == nullptr) {
      ERR_print_errors_fp(stderr);
      return 1;
    }
  }
  int resumed = 0;
  for (SSL* connection : connections) resumed += SSL_session_reused(connection);
  const double gained = static_cast<double>(resident_kib({getpid()}) - before) * 1.024;
  std::printf("{\"connections\":%d,\"resumed\":%d,\"kb_per_connection\":%.2f}\n", count, resumed,
              gained / count);
  return 0;
}

}  // namespace
}  // namespace qq::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: qq_tls_idle PORT CONNECTIONS full|resumed\n", stderr);
    return 2;
  }
  return qq::bench::run(std::atoi(argv[1]), std::atoi(argv[2]), std::string_view(argv[3]) == "resumed");
}
