// Opens connections to providers: resolve, egress guard, TCP, CONNECT proxy, TLS. Each step under its timer.
#pragma once
#include <memory>

#include "base/result.h"
#include "base/task.h"
#include "model/target.h"
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
  Task<Result<std::unique_ptr<net::Stream>>> open_tcp(const std::string& host, std::uint16_t port,
                                                      bool allow_private, net::Scope scope);
  Task<Result<>> tunnel(net::Stream& stream, const model::Origin& origin, net::Scope scope);

  net::EventLoop& loop_;
  relay::LoopCounters& counters_;
  std::shared_ptr<net::TlsClientContext> tls_;
  relay::OutboundProxy proxy_;
};

}  // namespace qq::upstream
