#include "upstream/connector.h"

#include <fmt/format.h>

#include "wire/http_head.h"

namespace qq::upstream {
namespace {

// More addresses than this are not tried: the connect timer is shared by all of them.
constexpr std::size_t kAddressesMax = 4;

Error connect_timeout(std::string_view host) {
  return Error::upstream(ErrorKind::ConnectTimeout, AttemptPhase::NotSent,
                         fmt::format("no connection to {} within the connect timer", host));
}

std::string authority_of(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool must_be_judged(const model::Origin& origin) {
  return origin.is_strangers || net::Address::from_host(origin.host, origin.port).has_value();
}

// Of the addresses of `host`, those that the guard allows; an error if none is left.
Result<> keep_allowed(std::vector<net::Address>& addresses, std::string_view host, net::EgressPolicy policy) {
  std::erase_if(addresses,
                [&](const net::Address& address) { return !net::egress_allowed(address, policy); });
  if (!addresses.empty()) return {};
  return fail(Error::gateway(ErrorKind::EgressDenied,
                             fmt::format("{} resolves only to addresses that the egress guard denies; "
                                         "set allow_private_address on the provider if it is yours",
                                         host)));
}

}  // namespace

Task<Result<std::unique_ptr<net::Stream>>> Connector::open(const model::Origin& origin,
                                                           const relay::Timers& timers, net::Scope scope) {
  const net::Scope connecting = scope.until(loop_.now() + timers.connect);
  const Host host{.name = origin.host,
                  .port = origin.port,
                  .policy = origin.allow_private_address ? net::EgressPolicy::AllowPrivate
                                                         : net::EgressPolicy::PublicOnly,
                  .is_strangers = origin.is_strangers};
  Task<Result<std::unique_ptr<net::Stream>>> opening =
      proxy_.host.empty()      ? open_judged(host, Way::Direct, connecting)
      : must_be_judged(origin) ? open_judged(host, Way::Proxy, connecting)
                               : open_through(authority_of(origin.host, origin.port), connecting);
  Result<std::unique_ptr<net::Stream>> stream = co_await std::move(opening);
  if (!stream) co_return stream;
  counters_.upstream_connects.add();
  if (origin.tls) {
    const net::Scope shaking = scope.until(loop_.now() + timers.tls);
    const auto resumption = origin.is_strangers ? net::TlsResumption::No : net::TlsResumption::Yes;
    stream =
        co_await net::tls_connect(*std::move(stream), tls_, origin.host, origin.port, shaking, resumption);
    if (!stream) {
      stream.error().phase = AttemptPhase::NotSent;
      co_return stream;
    }
    counters_.upstream_tls_handshakes.add();
    const auto info = net::tls_info(**stream);
    if (info && info->resumed) counters_.upstream_tls_resumed.add();
  }
  counters_.upstream_connections_open.add();
  co_return stream;
}

Task<Result<std::unique_ptr<net::Stream>>> Connector::open_judged(Host host, Way way, net::Scope scope) {
  Task<Result<std::vector<net::Address>>> resolving =
      host.is_strangers ? loop_.resolve_once(std::string(host.name), host.port, scope)
                        : loop_.resolve(std::string(host.name), host.port, scope);
  Result<std::vector<net::Address>> addresses = co_await std::move(resolving);
  if (!addresses) co_return fail(std::move(addresses).error());
  if (Result<> judged = keep_allowed(*addresses, host.name, host.policy); !judged)
    co_return fail(std::move(judged).error());
  const std::size_t tries = std::min(addresses->size(), kAddressesMax);
  Error last = connect_timeout(host.name);
  for (std::size_t i = 0; i < tries; ++i) {
    const MonotonicTime now = loop_.now();
    if (now >= scope.deadline) break;
    const auto share = (scope.deadline - now) / static_cast<int>(tries - i);
    const net::Scope one = scope.until(now + share);
    const net::Address address = (*addresses)[i];
    Task<Result<std::unique_ptr<net::Stream>>> connecting =
        way == Way::Direct ? loop_.connect(address, one) : open_through(address.text(), one);
    Result<std::unique_ptr<net::Stream>> stream = co_await std::move(connecting);
    if (stream) co_return stream;
    if (scope.cancel != nullptr && scope.cancel->cancelled()) co_return fail(net::cancelled_error(scope));
    last = std::move(stream).error();
  }
  // What this process lacks, descriptors or memory, is no fault of the provider.
  if (last.kind != ErrorKind::Saturated) last.origin = ErrorOrigin::Upstream;
  last.phase = AttemptPhase::NotSent;
  co_return fail(std::move(last));
}

Task<Result<std::unique_ptr<net::Stream>>> Connector::open_through(std::string authority, net::Scope scope) {
  // The proxy is the operator's own word, and may be at any address that the guard knows.
  const Host host{.name = proxy_.host, .port = proxy_.port, .policy = net::EgressPolicy::AllowPrivate};
  Result<std::unique_ptr<net::Stream>> stream = co_await open_judged(host, Way::Direct, scope);
  if (!stream) co_return stream;
  Result<> tunnelled = co_await tunnel(**stream, std::move(authority), scope);
  if (!tunnelled) co_return fail(std::move(tunnelled).error());
  co_return stream;
}

// RFC 9110 9.3.6: after a 2xx the connection is a tunnel. The head is read a byte at a time at most once per
// connection, so that nothing behind it is taken.
Task<Result<>> Connector::tunnel(net::Stream& stream, std::string authority, net::Scope scope) {
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nhost: {0}\r\n", authority);
  if (!proxy_.authorization.empty())
    request += fmt::format("proxy-authorization: {}\r\n", proxy_.authorization);
  request += "\r\n";

  const auto failed = [](std::string text) {
    return fail(Error::upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent, std::move(text)));
  };
  std::string_view rest = request;
  while (!rest.empty()) {
    const iovec piece = net::as_iovec(rest);
    const net::IoTry wrote = stream.try_write({&piece, 1});
    if (wrote.status == net::IoStatus::Done) {
      rest.remove_prefix(wrote.bytes);
      continue;
    }
    if (wrote.status != net::IoStatus::WouldBlock)
      co_return failed("the outbound proxy closed the connection");
    const net::Wake wake = co_await stream.writable(scope);
    if (wake == net::Wake::Cancelled) co_return fail(net::cancelled_error(scope));
    if (wake == net::Wake::Deadline) co_return fail(connect_timeout(proxy_.host));
  }
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char byte = 0;
    const net::IoTry got = stream.try_read({&byte, 1});
    if (got.status == net::IoStatus::Done) {
      head.push_back(byte);
      if (head.size() > 16 * 1024) co_return failed("the outbound proxy's answer has no end");
      continue;
    }
    if (got.status != net::IoStatus::WouldBlock) co_return failed("the outbound proxy closed the connection");
    const net::Wake wake = co_await stream.readable(scope);
    if (wake == net::Wake::Cancelled) co_return fail(net::cancelled_error(scope));
    if (wake == net::Wake::Deadline) co_return fail(connect_timeout(proxy_.host));
  }
  wire::ResponseHead answer;
  const wire::HeadLimits limits;
  const wire::HeadVerdict verdict = wire::read_response_head(head, limits, answer);
  if (verdict.kind != wire::HeadVerdict::Kind::Complete)
    co_return failed("the outbound proxy's answer is no HTTP");
  if (answer.status < 200 || answer.status > 299) {
    co_return failed(fmt::format("the outbound proxy refused the tunnel with status {}", answer.status));
  }
  co_return Result<>();
}

}  // namespace qq::upstream
