// A DNS server on loopback, UDP and TCP, in a thread of its own. For tests only.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/assert.h"

namespace qq::net::testing {

struct DnsAnswer {
  enum class Mode : std::uint8_t { Addresses, NoSuchName, ServerFailure, Silence, OverTcpOnly };
  Mode mode = Mode::Addresses;
  std::vector<std::string> v4{};
  std::vector<std::string> v6{};
  std::uint32_t ttl = 60;
};

class TestDnsServer {
 public:
  TestDnsServer() {
    // A port that is free for both protocols takes some luck.
    while (!open_sockets()) {
      ::close(udp_);
      ::close(tcp_);
    }
    wake_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::jthread([this] { serve(); });
  }
  TestDnsServer(const TestDnsServer&) = delete;
  TestDnsServer& operator=(const TestDnsServer&) = delete;
  ~TestDnsServer() {
    const std::uint64_t one = 1;
    QQ_ASSERT(::write(wake_, &one, sizeof one) == sizeof one);
    thread_.join();
    for (const int fd : {udp_, tcp_, wake_}) ::close(fd);
  }

  [[nodiscard]] const std::string& servers() const { return servers_; }
  void set(const std::string& name, DnsAnswer answer) {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(name, std::move(answer));
  }
  // Questions for IPv4 addresses of that name, over UDP.
  [[nodiscard]] int asked(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return asked_[name];
  }

 private:
  bool open_sockets() {
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(tcp_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    QQ_ASSERT(::bind(udp_, generic, length) == 0 && ::getsockname(udp_, generic, &length) == 0);
    servers_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    return ::bind(tcp_, generic, length) == 0 && ::listen(tcp_, 16) == 0;
  }

  static void put16(std::string& out, std::size_t value) {
    out.push_back(static_cast<char>(value >> 8U & 0xffU));
    out.push_back(static_cast<char>(value & 0xffU));
  }
  static std::size_t get16(const std::string& in, std::size_t at) {
    return std::size_t{static_cast<unsigned char>(in[at])} << 8U | static_cast<unsigned char>(in[at + 1]);
  }

  // Empty: no answer.
  std::string answer(const std::string& query, bool over_tcp) {
    std::string name;
    std::size_t at = 12;
    while (query[at] != '\0') {
      const auto length = static_cast<unsigned char>(query[at]);
      name += (name.empty() ? "" : ".") + query.substr(at + 1, length);
      at += 1U + length;
    }
    const std::size_t type = get16(query, at + 1);
    const std::string question = query.substr(12, at + 5 - 12);

    const std::lock_guard lock(mutex_);
    if (type == 1 && !over_tcp) ++asked_[name];
    const auto found = answers_.find(name);
    const DnsAnswer known = found != answers_.end() ? found->second : DnsAnswer{DnsAnswer::Mode::NoSuchName};
    if (known.mode == DnsAnswer::Mode::Silence) return {};
    const bool truncated = known.mode == DnsAnswer::Mode::OverTcpOnly && !over_tcp;
    std::size_t flags = 0x8180;  // an answer, recursion wanted and there
    if (truncated) flags |= 0x0200U;
    if (known.mode == DnsAnswer::Mode::NoSuchName) flags |= 3U;
    if (known.mode == DnsAnswer::Mode::ServerFailure) flags |= 2U;
    const std::vector<std::string>& texts = type == 28 ? known.v6 : known.v4;
    const std::size_t count = truncated || (flags & 15U) != 0 ? 0 : texts.size();

    std::string reply = query.substr(0, 2);
    put16(reply, flags);
    put16(reply, 1);
    put16(reply, count);
    put16(reply, 0);
    put16(reply, 0);
    reply += question;
    for (std::size_t i = 0; i < count; ++i) {
      put16(reply, 0xc00c);  // the question's name
      put16(reply, type);
      put16(reply, 1);
      put16(reply, known.ttl >> 16U);
      put16(reply, known.ttl & 0xffffU);
      std::array<char, 16> bytes{};
      QQ_ASSERT(::inet_pton(type == 28 ? AF_INET6 : AF_INET, texts[i].c_str(), bytes.data()) == 1);
      const std::size_t size = type == 28 ? 16 : 4;
      put16(reply, size);
      reply.append(bytes.data(), size);
    }
    return reply;
  }

  void serve() {
    std::string buffer(4096, '\0');
    for (;;) {
      std::array<pollfd, 3> polled = {pollfd{udp_, POLLIN, 0}, pollfd{tcp_, POLLIN, 0},
                                      pollfd{wake_, POLLIN, 0}};
      ::poll(polled.data(), polled.size(), -1);
      if (polled[2].revents != 0) return;
      if (polled[0].revents != 0) {
        sockaddr_in from{};
        socklen_t length = sizeof from;
        const ssize_t n =
            ::recvfrom(udp_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
        if (n < 17) continue;
        const std::string reply = answer(buffer.substr(0, static_cast<std::size_t>(n)), false);
        if (!reply.empty())
          ::sendto(udp_, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), length);
      }
      if (polled[1].revents != 0) {
        const int fd = ::accept(tcp_, nullptr, nullptr);
        serve_tcp(fd);
        ::close(fd);
      }
    }
  }
  // Until the client closes. Each answer goes out in two pieces, so that the client has to wait for the
  // second.
  void serve_tcp(int fd) {
    std::string received;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (n <= 0) return;
      received.append(buffer.data(), static_cast<std::size_t>(n));
      while (received.size() >= 2 && received.size() >= 2 + get16(received, 0)) {
        const std::size_t size = get16(received, 0);
        const std::string reply = answer(received.substr(2, size), true);
        received.erase(0, 2 + size);
        std::string framed;
        put16(framed, reply.size());
        framed += reply;
        const std::size_t half = framed.size() / 2;
        ::send(fd, framed.data(), half, MSG_NOSIGNAL);
        ::send(fd, framed.data() + half, framed.size() - half, MSG_NOSIGNAL);
      }
    }
  }

  int udp_ = -1;
  int tcp_ = -1;
  int wake_ = -1;
  std::string servers_;
  std::mutex mutex_;
  std::map<std::string, DnsAnswer> answers_;
  std::map<std::string, int> asked_;
  std::jthread thread_;
};

}  // namespace qq::net::testing
