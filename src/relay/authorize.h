// The step before a request is sent: what proves who sends it, where that is made anew for each.
#pragma once
#include <string>

#include "relay/loop_services.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Sets `call.auth_lines`, which are kept in `lines`. For targets whose request_auth is not Fixed; `call` is
// complete but for them. Errors as those of Authorizer.
Task<Result<>> authorize(LoopServices& services, UpstreamCall& call, std::string& lines, const Timers& timers,
                         net::Scope scope);

}  // namespace qq::relay
