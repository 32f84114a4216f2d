// Names to addresses, by c-ares, with a cache: one per loop. An answer is fresh for its TTL (within limits)
// and usable for an hour when DNS fails or is slow. Requests for a name that is being looked up share the
// look-up. For the files of net/ only; use EventLoop::resolve.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/epoll_loop.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace qq::net {

class Resolver {
 public:
  Resolver(EpollLoop& loop, const ResolverOptions& options);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // `host` is a name. Errors: DnsFailed, or the cancellation's reason.
  Task<Result<std::vector<Address>>> resolve(std::string host, std::uint16_t port, Scope scope);

 private:
  struct Entry {
    std::vector<Address> addresses;
    MonotonicTime fresh_until;
    MonotonicTime usable_until;
  };
  // One question to DNS, and who waits for its answer.
  struct Lookup {
    Resolver* resolver;
    std::string host;
    std::vector<Signal*> waiting;
    std::string failure;  // empty: the answer is in the cache
    bool done = false;
  };
  class Membership;
  struct SocketWatch;
  struct Timeout final : Timer {
    explicit Timeout(Resolver& owner) noexcept : Timer(&Resolver::timed_out), resolver(owner) {}
    Resolver& resolver;
  };

  std::shared_ptr<Lookup> look_up(const std::string& host);
  void process(int readable, int writable) noexcept;
  void arm_timeout() noexcept;
  void watch(int fd, bool readable, bool writable);
  void store(const Lookup& lookup, const ares_addrinfo& answer);
  static void timed_out(Timer& timer) noexcept;
  static void answered(void* lookup, int status, int timeouts, ares_addrinfo* answer);
  static void socket_changed(void* resolver, int fd, int readable, int writable);

  EpollLoop& loop_;
  const ResolverOptions options_;
  Timeout timeout_;
  ares_channeldata* channel_ = nullptr;
  std::string broken_;  // why there is no channel
  std::unordered_map<std::string, Entry> cache_;
  std::unordered_map<std::string, std::shared_ptr<Lookup>> in_flight_;
  std::unordered_map<int, std::unique_ptr<SocketWatch>> sockets_;
};

}  // namespace qq::net
