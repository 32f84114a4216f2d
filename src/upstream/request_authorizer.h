// What authenticates requests one by one: signatures (AWS's, and those that a description says), made in
// place, and Google's access tokens. One per loop.
#pragma once
#include "relay/authorizer.h"
#include "upstream/google_tokens.h"

namespace qq::upstream {

class RequestAuthorizer : public relay::Authorizer {
 public:
  RequestAuthorizer(net::EventLoop& loop, relay::UpstreamClient& client)
      : loop_(loop), tokens_(loop, client) {}

  Task<Result<std::string>> header_lines(const relay::UpstreamCall& call, const relay::Timers& timers,
                                         net::Scope scope) override;
  // To be awaited before this dies.
  Task<void> close() { return tokens_.close(); }

 private:
  net::EventLoop& loop_;
  GoogleTokens tokens_;
};

}  // namespace qq::upstream
