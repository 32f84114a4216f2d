// Access tokens for Google's service accounts: fetched when first needed, kept until they expire, and
// refreshed ahead of that while the old one goes on being used.
//
//   none ----token()----> fetching --200--> fresh --5 min before its end--> fresh, refreshing --200--> fresh
//                            |                                                     |
//                            +--failed--> none; who waited is told why             +--failed--> tried again
//                            for a while, and who asks meanwhile                   in 30 s
//
// After a failure without a token there is a pause, as long as the failed fetch took and a second at least:
// an endpoint that refuses is not asked once for every request, and one that says nothing does not hold up
// each of them. Of one credential's there is one fetch at a time, whatever asks. It has its own deadline:
// that the client which asked first has left does not take the token from the others. One per loop, on its
// thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "base/task.h"
#include "model/target.h"
#include "net/event_loop.h"
#include "providers/google_token.h"
#include "relay/settings.h"
#include "relay/upstream_client.h"

namespace qq::upstream {

class GoogleTokens {
 public:
  // Tokens are fetched through `client`, and so past its egress guard. It outlives this.
  GoogleTokens(net::EventLoop& loop, relay::UpstreamClient& client);
  ~GoogleTokens();
  GoogleTokens(const GoogleTokens&) = delete;
  GoogleTokens& operator=(const GoogleTokens&) = delete;

  // A token for the target's signing credential that is good for a while yet. Waits for a fetch, within the
  // scope and ten seconds. Errors as those of relay::Authorizer.
  Task<Result<Secret>> token(const model::Target& target, const relay::Timers& timers, net::Scope scope);

  // Gives up what is being fetched and waits for its end. Nothing is fetched any more. To be awaited before
  // this dies.
  Task<void> close();

 private:
  struct Waiting;
  struct Entry;
  std::shared_ptr<Entry> entry_of(const model::Target& target);
  void start_fetch(const std::shared_ptr<Entry>& entry, const model::Target& target,
                   const relay::Timers& timers);
  static Task<void> fetch(GoogleTokens& self, std::shared_ptr<Entry> entry,
                          std::shared_ptr<const model::Target> asking, relay::Timers timers);
  Task<Result<providers::GoogleToken>> ask(const model::Target& asking, const relay::Timers& timers,
                                           net::Scope scope);

  net::EventLoop& loop_;
  relay::UpstreamClient& client_;
  std::vector<std::shared_ptr<Entry>> entries_;  // by credential: few
  net::Cancellation closing_;
  TaskGroup fetches_;
};

}  // namespace qq::upstream
