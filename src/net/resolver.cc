#include "net/resolver.h"

#include <ares.h>

#include <mutex>

namespace qq::net {
namespace {

using std::chrono::seconds;

constexpr seconds kRetryAfterFailure{5};  // while an old answer stands in
constexpr std::size_t kMostEntries = 4096;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
}

// Names that some resolvers take for spellings of IPv4 addresses ("0x7f.1", "2130706433", "127.1"): those
// whose last label is a number. Source: WHATWG URL, "ends in a number".
bool ends_in_a_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view label = host.substr(host.rfind('.') + 1);
  if (label.empty()) return false;
  if (std::ranges::all_of(label, is_digit)) return true;
  if (!label.starts_with("0x")) return false;
  return std::ranges::all_of(label.substr(2), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '.' &&
         std::ranges::all_of(host, is_name_char) && host.find("..") == std::string_view::npos &&
         !ends_in_a_number(host);
}

// RFC 6761, 6.3: names of the loopback are never asked of anybody, and mean it whatever the hosts file says.
bool is_localhost(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host == "localhost" || host.ends_with(".localhost");
}

std::vector<Address> loopback(std::uint16_t port) {
  return {Address::from_host("127.0.0.1", port).value(), Address::from_host("::1", port).value()};
}

Error dns_failed(const std::string& host, std::string_view why) {
  return Error::upstream(ErrorKind::DnsFailed, AttemptPhase::NotSent,
                         "cannot resolve \"" + host + "\": " + std::string(why));
}

// A name with both kinds of addresses is tried on both: 6, 4, 6, 4 (RFC 8305 §4), in the order that c-ares
// prefers (RFC 6724).
std::vector<Address> interleave(const std::vector<Address>& sorted) {
  std::vector<Address> first;
  std::vector<Address> other;
  for (const Address& address : sorted) {
    (address.family() == sorted.front().family() ? first : other).push_back(address);
  }
  std::vector<Address> mixed;
  for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i < first.size()) mixed.push_back(first[i]);
    if (i < other.size()) mixed.push_back(other[i]);
  }
  return mixed;
}

std::vector<Address> with_port(std::vector<Address> addresses, std::uint16_t port) {
  for (Address& address : addresses) address = address.with_port(port);
  return addresses;
}

}  // namespace

// Keeps a waiting request in the look-up's list for as long as its coroutine exists.
class Resolver::Membership {
 public:
  Membership(std::shared_ptr<Lookup> lookup, Signal& signal) : lookup_(std::move(lookup)), signal_(signal) {
    lookup_->waiting.push_back(&signal_);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() { std::erase(lookup_->waiting, &signal_); }

 private:
  std::shared_ptr<Lookup> lookup_;
  Signal& signal_;
};

struct Resolver::SocketWatch final : PollTarget {
  SocketWatch(Resolver& owner, int descriptor) noexcept : resolver(owner), fd(descriptor) {}
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;
  ~SocketWatch() { resolver.loop_.poller().remove(token); }
  void on_events(std::uint32_t events) noexcept override {
    const bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
    const bool writable = (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0;
    // c-ares may close the socket inside, which destroys this watch.
    resolver.process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  Resolver& resolver;
  int fd;
  Poller::Token token;
};

Resolver::Resolver(EpollLoop& loop, const ResolverOptions& options)
    : loop_(loop), options_(options), timeout_(*this) {
  static std::once_flag once;
  std::call_once(once, [] { ares_library_init(ARES_LIB_INIT_ALL); });
  ares_options wanted{};
  wanted.sock_state_cb = &Resolver::socket_changed;
  wanted.sock_state_cb_data = this;
  wanted.timeout = static_cast<int>(options.timeout.count());
  wanted.tries = options.tries;
  int status =
      ares_init_options(&channel_, &wanted, ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
  if (status == ARES_SUCCESS && !options.servers.empty()) {
    status = ares_set_servers_ports_csv(channel_, options.servers.c_str());
  }
  if (status != ARES_SUCCESS) broken_ = ares_strerror(status);
}

Resolver::~Resolver() {
  if (channel_ != nullptr) ares_destroy(channel_);
  loop_.disarm(timeout_);
}

Task<Result<std::vector<Address>>> Resolver::resolve(std::string host, std::uint16_t port, Keep keep,
                                                     Scope scope) {
  std::ranges::transform(host, host.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (!is_name(host)) co_return fail(dns_failed(host, "this is neither a host name nor an address"));
  if (is_localhost(host)) co_return loopback(port);
  if (!broken_.empty()) co_return fail(dns_failed(host, broken_));

  const auto known = cache_.find(host);
  if (known != cache_.end() && loop_.now() < known->second.fresh_until) {
    co_return with_port(known->second.addresses, port);
  }
  const bool has_old = known != cache_.end() && loop_.now() < known->second.usable_until;

  const std::shared_ptr<Lookup> lookup = look_up(host, keep);
  if (!lookup->done) {
    Signal signal(loop_);
    const Membership membership(lookup, signal);
    const Scope waiting = has_old ? scope.until(loop_.now() + options_.patience) : scope;
    const Wake wake = co_await signal.wait(waiting);
    if (wake == Wake::Cancelled) co_return fail(cancelled_error(scope));
  }
  if (lookup->done && lookup->failure.empty()) co_return with_port(lookup->addresses, port);
  // The cache may have changed while this waited.
  const auto found = cache_.find(host);
  if (found != cache_.end() && loop_.now() < found->second.usable_until) {
    found->second.fresh_until = std::max(found->second.fresh_until, loop_.now() + kRetryAfterFailure);
    co_return with_port(found->second.addresses, port);
  }
  co_return fail(dns_failed(host, lookup->done ? lookup->failure : "it took too long"));
}

std::shared_ptr<Resolver::Lookup> Resolver::look_up(const std::string& host, Keep keep) {
  if (const auto running = in_flight_.find(host); running != in_flight_.end()) {
    running->second->keep = running->second->keep || keep == Keep::Yes;
    return running->second;
  }
  auto lookup = std::make_shared<Lookup>();
  lookup->keep = keep == Keep::Yes;
  lookup->resolver = this;
  lookup->host = host;
  in_flight_.emplace(host, lookup);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  // For names of the hosts file it calls back inside.
  ares_getaddrinfo(channel_, host.c_str(), nullptr, &hints, &Resolver::answered, lookup.get());
  arm_timeout();
  return lookup;
}

void Resolver::answered(void* lookup, int status, int /*timeouts*/, ares_addrinfo* answer) {
  auto* const asked = static_cast<Lookup*>(lookup);
  Resolver& self = *asked->resolver;
  const auto node = self.in_flight_.extract(asked->host);
  const std::shared_ptr<Lookup> kept = node.mapped();
  kept->done = true;
  if (status == ARES_SUCCESS && answer != nullptr && answer->nodes != nullptr) {
    self.take(*kept, *answer);
  } else {
    kept->failure = status == ARES_SUCCESS ? "it has no addresses" : ares_strerror(status);
  }
  if (answer != nullptr) ares_freeaddrinfo(answer);
  for (Signal* signal : kept->waiting) signal->set();
}

void Resolver::take(Lookup& lookup, const ares_addrinfo& answer) {
  std::vector<Address> addresses;
  std::chrono::milliseconds ttl = options_.longest_fresh;
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    const Address address = Address::from(node->ai_addr, static_cast<socklen_t>(node->ai_addrlen));
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
    ttl = std::min(ttl, std::chrono::milliseconds(seconds(std::max(node->ai_ttl, 0))));
  }
  lookup.addresses = interleave(addresses);
  if (!lookup.keep) return;
  const MonotonicTime now = loop_.now();
  if (cache_.size() >= kMostEntries) {
    std::erase_if(cache_, [now](const auto& entry) { return entry.second.fresh_until <= now; });
    if (cache_.size() >= kMostEntries) cache_.clear();
  }
  Entry& entry = cache_[lookup.host];
  entry.addresses = lookup.addresses;
  entry.fresh_until = now + std::max(ttl, options_.shortest_fresh);
  entry.usable_until = now + options_.usable;
}

void Resolver::process(int readable, int writable) noexcept {
  ares_process_fd(channel_, readable, writable);
  arm_timeout();
}

void Resolver::arm_timeout() noexcept {
  timeval wait{};
  if (ares_timeout(channel_, nullptr, &wait) == nullptr) return loop_.disarm(timeout_);
  loop_.arm(timeout_, loop_.precise_now() + seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec));
}

void Resolver::timed_out(Timer& timer) noexcept {
  static_cast<Timeout&>(timer).resolver.process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

void Resolver::socket_changed(void* resolver, int fd, int readable, int writable) {
  static_cast<Resolver*>(resolver)->watch(fd, readable != 0, writable != 0);
}

// Level-triggered: c-ares does not read until the socket is empty, and with edges an answer over TCP would
// wait for the timeout.
void Resolver::watch(int fd, bool readable, bool writable) {
  if (!readable && !writable) {
    sockets_.erase(fd);
    return;
  }
  const std::uint32_t events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);
  const auto [found, fresh] = sockets_.try_emplace(fd);
  if (fresh) {
    found->second = std::make_unique<SocketWatch>(*this, fd);
    loop_.poller().add(fd, events, *found->second, found->second->token);
  } else if (loop_.poller().alive(found->second->token)) {
    loop_.poller().modify(found->second->token, events);
  }
}

}  // namespace qq::net
