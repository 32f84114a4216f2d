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

  enum class Keep : bool { No, Yes };
  // `host` is a name. `keep`: whether the answer goes into the cache; what is there is used all the same.
  // Errors: DnsFailed, or the cancellation's reason.
  Task<Result<std::vector<Address>>> resolve(std::string host, std::uint16_t port, Keep keep, Scope scope);

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
    std::vector<Address> addresses;  // the answer
    std::string failure;             // empty: there is one
    bool keep = false;               // somebody who asks wants it kept
    bool done = false;
  };
  class Membership;
  struct SocketWatch;
  struct Timeout final : Timer {
    explicit Timeout(Resolver& owner) noexcept : Timer(&Resolver::timed_out), resolver(owner) {}
    Resolver& resolver;
  };

  std::shared_ptr<Lookup> look_up(const std::string& host, Keep keep);
  void process(int readable, int writable) noexcept;
  void arm_timeout() noexcept;
  void watch(int fd, bool readable, bool writable);
  void take(Lookup& lookup, const ares_addrinfo& answer);
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
