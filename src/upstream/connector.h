// Opens connections to providers: resolve, egress guard, TCP, CONNECT proxy, TLS. Each step under its timer.
//
// Through a proxy, the names that the operator has written go to it as they are: often nobody else can
// resolve them, and the proxy may go by them. Numeric addresses are judged here all the same. What a
// request's caller has named (Origin::is_strangers) is resolved and judged here, and the proxy is asked for
// an address that was judged; a name that cannot be resolved here is not asked for.
#pragma once
#include <memory>

#include "base/result.h"
#include "base/task.h"
#include "model/target.h"
#include "net/egress_guard.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "relay/loop_counters.h"
#include "relay/settings.h"

namespace qq::upstream {

class Connector {
 public:
  Connector(net::EventLoop& loop, relay::LoopCounters& counters, std::shared_ptr<net::TlsClientContext> tls,
            relay::OutboundProxy proxy)
      : loop_(loop), counters_(counters), tls_(std::move(tls)), proxy_(std::move(proxy)) {}

  // All errors are in phase NotSent: DnsFailed, EgressDenied, ConnectFailed, ConnectTimeout, TlsFailed, or
  // the cancellation's reason.
  Task<Result<std::unique_ptr<net::Stream>>> open(const model::Origin& origin, const relay::Timers& timers,
                                                  net::Scope scope);

 private:
  enum class Way : std::uint8_t { Direct, Proxy };
  struct Host {
    std::string_view name;  // of an origin or the proxy, which outlives the call
    std::uint16_t port = 0;
    net::EgressPolicy policy = net::EgressPolicy::PublicOnly;
    bool is_strangers = false;
  };
  // To one of its addresses that the guard allows.
  Task<Result<std::unique_ptr<net::Stream>>> open_judged(Host host, Way way, net::Scope scope);
  // To whatever the proxy takes `authority` for.
  Task<Result<std::unique_ptr<net::Stream>>> open_through(std::string authority, net::Scope scope);
  Task<Result<>> tunnel(net::Stream& stream, std::string authority, net::Scope scope);

  net::EventLoop& loop_;
  relay::LoopCounters& counters_;
  std::shared_ptr<net::TlsClientContext> tls_;
  relay::OutboundProxy proxy_;
};

}  // namespace qq::upstream
