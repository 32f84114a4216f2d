// An attempt at a back end that is polled (model::DeclaredPoll), as one reply: what is asked begins an
// operation there, which is asked about until it is over, and what is said then is the reply. Calls to all
// other targets pass through.
//
//   submit --2xx, runs--> wait `every` --> poll --2xx, over----------> its body is the reply
//     |                       ^             |
//     |                       +--2xx, runs--+
//     |                       +--no connection, 429, 5xx: `retries` in a row, after longer waits--+
//     +--2xx, over: its body is the reply
//     +--refused: so is the attempt, as it is by a poll that is refused or fails for the last time
//
// All of it is one attempt under its first-content timer, each exchange in it under the one of the first
// byte. An operation that nobody waits for any more, because its client has left or the time is up, is
// cancelled where the description says how. One per loop, on its thread.
#pragma once
#include <memory>

#include "base/task.h"
#include "net/event_loop.h"
#include "relay/authorizer.h"
#include "relay/upstream_client.h"

namespace qq::upstream {

class PollingClient final : public relay::UpstreamClient {
 public:
  // Asks through `client`, each request with what `authorizer` makes for it. Both outlive this.
  PollingClient(net::EventLoop& loop, relay::UpstreamClient& client, relay::Authorizer& authorizer) noexcept
      : loop_(loop), client_(client), authorizer_(authorizer) {}

  Task<Result<std::unique_ptr<relay::UpstreamReply>>> send(const relay::UpstreamCall& call,
                                                           const relay::Timers& timers,
                                                           net::Scope scope) override;

  // Waits for what is being cancelled, a few seconds at most. To be awaited before this dies.
  Task<void> close();

 private:
  struct Heard;  // one exchange
  struct Following;
  Task<Result<std::unique_ptr<relay::UpstreamReply>>> poll(const relay::UpstreamCall& call,
                                                           const relay::Timers& timers, net::Scope scope);
  Task<Result<Heard>> wait_for_end(const Following& following);
  Task<Result<Heard>> exchange(const relay::UpstreamCall& call, const relay::Timers& timers,
                               net::Scope scope);
  Task<Result<Heard>> ask(relay::UpstreamCall call, const relay::Timers& timers, net::Scope scope);
  void cancel(const Following& following, std::string_view id);
  static Task<void> cancel_there(PollingClient& self, std::shared_ptr<const model::Target> target,
                                 std::string path, std::string request_id, std::string header_lines,
                                 relay::Timers timers);

  net::EventLoop& loop_;
  relay::UpstreamClient& client_;
  relay::Authorizer& authorizer_;
  TaskGroup cancels_;
};

}  // namespace qq::upstream
