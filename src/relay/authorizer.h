// The port to what authenticates requests one by one: signatures, and tokens that expire
// (model::RequestAuth). Implemented by upstream/. Targets whose fixed header lines say it all never get here.
#pragma once
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "net/wait.h"
#include "relay/settings.h"
#include "relay/upstream_client.h"

namespace qq::relay {

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // The header lines that prove who sends `call`, which is complete but for them; each with CRLF. It may take
  // a request to somebody else, within the scope. Errors are in phase NotSent: CredentialDead if the
  // credential is refused, what a request to a provider can fail with, or the cancellation's reason.
  virtual Task<Result<std::string>> header_lines(const UpstreamCall& call, const Timers& timers,
                                                 net::Scope scope) = 0;
};

}  // namespace qq::relay
