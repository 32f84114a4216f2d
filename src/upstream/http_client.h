// The upstream client over pooled HTTP/1.1 connections. One per loop.
#pragma once
#include <memory>
#include <string>

#include "relay/upstream_client.h"
#include "upstream/connector.h"
#include "upstream/pool.h"

namespace qq::upstream {

class HttpUpstreamClient : public relay::UpstreamClient {
 public:
  HttpUpstreamClient(net::EventLoop& loop, relay::LoopCounters& counters,
                     std::shared_ptr<net::TlsClientContext> tls, relay::OutboundProxy proxy);

  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send(const relay::UpstreamCall& call,
                                                           const relay::Timers& timers,
                                                           net::Scope scope) override;
  // Some of the idle connections go, which have been idle for longest: for who needs a descriptor more.
  // False: there was none.
  bool drop_some_idle();
  // Before the loop ends.
  void close_idle() noexcept { pool_.clear(); }

 private:
  friend class HttpReply;

  // On a connection of the pool, and once more on a fresh one if that was stale.
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send_pooled(std::unique_ptr<net::Stream> stream,
                                                                  const relay::UpstreamCall& call,
                                                                  const relay::Timers& timers,
                                                                  net::Scope scope);
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send_fresh(const relay::UpstreamCall& call,
                                                                 const relay::Timers& timers,
                                                                 net::Scope scope);
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send_signed_anew(const relay::UpstreamCall& call,
                                                                       const relay::Timers& timers,
                                                                       net::Scope scope);
  // One try on one connection. Sets `reply_began` when any byte of a reply was read.
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send_on(std::unique_ptr<net::Stream> stream,
                                                              const relay::UpstreamCall& call,
                                                              const relay::Timers& timers, net::Scope scope,
                                                              bool& reply_began);
  void close(std::unique_ptr<net::Stream> stream) noexcept;

  net::EventLoop& loop_;
  relay::LoopCounters& counters_;
  Connector connector_;
  Pool pool_;
  wire::ResponseHead head_;    // the newest reply's; too large for every reply to hold one
  std::string head_text_;      // request heads are built here
  std::vector<iovec> pieces_;  // and gathered here
};

}  // namespace qq::upstream
